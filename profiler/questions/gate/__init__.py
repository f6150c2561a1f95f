"""`profile gate` tells whether this version of a job is slower than another.

- Blocks of both versions are measured in turns, or two at a time where engine and slots allow it (`experiment`).
- Four criteria are tested (`criteria`, `verdict`), and the operator that got slower is named (`slower_operator`). A
  pass needs CPU per row and throughput; latency and single operators may stay open. Latency fails a gate only where an
  operator takes longer.
- A baseline is run again where its code was committed and the revision is at hand, so that both versions meet
  (`sides`). Where it is not, its stored blocks take part, only if rows and Spark settings are as they were, and only
  CPU per row can fail the gate then, by more than sessions differ anyway: throughput and latency follow a machine that
  is slower today. On another machine than the baseline's, or with other versions, a gate says what differs and is
  inconclusive, unless `--force` is given.
- A drill (`drill`) slows one operator down on purpose; one that is not found is no pass. What could not be told comes
  with the blocks that it would take (`needed_blocks`).
- Every block is stored when it ends. A gate that was interrupted goes on after its last block (two at a time: after its
  last turn) when the same is asked again within an hour, if code, data and machine are as they were (`question`).
"""
