"""`profile run` finds the tasks per operator that give the most throughput in time.

    policy ──▶ trial ──▶ deploy ──▶ warm up ──▶ observe n windows ──▶ compare with its reference ──▶ decision
      ▲        tasks       the      until the      at stress, then      Welch's test on logs, which    accepted or
      │        per op.     job      windows are    a latency probe      knows the noise of all rounds  revoked, why
      │                             stationary     at 90 %              so far                            │
      └───────────────────────────────────────────────────────────────────────────────────────────────────┘

`session` is one search from its record in the history to the profile that is kept, on the `terms` that the settings
ask for; `loop` goes round that way, `policies` say what is tried next, `readings` say what a round tells of the job.
The answer is then confirmed against the start and the runner-up in interleaved blocks, and `holding` finds the highest
rate that it holds with production's batches: `rate_search` says which rate is tried next, `verification` what came of
it. On Spark a search starts no round that would end after four minutes, and its confirmation has the blocks that fit
into six, so that all of it ends within eight; for a job of several queries it is twice that. `--budget` goes before
these limits.
"""
