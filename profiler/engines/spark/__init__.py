"""The real engine: a topology as Spark real-time queries over Kafka.

| room | holds |
|---|---|
| `layout` | how Spark runs a job: the cut into queries, stages and topics, and the slots they need; pure |
| `jvm` | the Spark session: its settings, its process, the CPU time of stages, the speed of the machine, its failures |
| `query` | a chain as a streaming DataFrame: rows with their times, a stage per operator, Python timed; the queries |
| `load` | how a running job is loaded: topics, the throttle, how far every branch has come, what is done beforehand |
| `workers` | the daemon that Spark starts Python workers with |
| `windows` | how batches become observations: which part counts, sampled latencies, their weights |

A deployment (`deployment.py`) puts their parts together; what it learns of a job is kept for the next one
(`job_memory.py`).

What bounds measuring in real-time mode, and where it is dealt with:

- A query reads whatever is there, and its batch ends when all of it is done, so stress drowns it: `load/throttle.py`.
- Every query pauses between its batches, each at its own time, so several need longer windows: `kind.py`.
- In short batches the pause between two would be most of a p95: `windows/production_weights.py`.
- Stages of two operators are fused by the optimiser, so that neither could be told apart: `jvm/job_settings.py` keeps
  them apart, `layout/executed_plan.py` checks it.
- Broker and generator share a local machine with the job: `jvm/machine_use.py` tells when all cores are in use.
- Dozens of Python workers start at once, and would each import the same for themselves: `workers`.
- Other programs share it too, and its host: `jvm/system_counters.py`; the JVM stands still to collect garbage:
  `jvm/garbage.py`.
- A new JVM compiles for a minute or two: `jvm/compilers.py`.

What these cost and bring is in scripts/benches/results: engine.md, throttle.md, windows-of-dags.md, speed-index.md.
"""
