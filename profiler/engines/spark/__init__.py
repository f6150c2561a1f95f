"""The real engine: a topology as Spark real-time queries over Kafka.

| module | holds |
|---|---|
| `chains` | the cut into queries, topics and stages, and the slots they need: pure |
| `session`, `launching` | one Spark session per profile, its settings, its log; the environment of its JVM |
| `rows` | what a row looks like in a topic; how sampled rows carry their times |
| `query` | a chain as a streaming DataFrame, one stage per operator |
| `python_operator`, `queued_time` | a user's batch function, measured where it runs; its waiting for a core |
| `executed_plan` | what Spark made of a query: the stages it really has |
| `places` | which topics a deployment has |
| `topics` | Kafka topics and their offsets |
| `gate` | stress without drowning: what would only lie in the queue is held back |
| `samples` | the collector of sampled rows: latencies, live |
| `key_counts` | how often keys come into keyed operators |
| `filling` | when the state of a deployment is full enough to be measured |
| `stages` | CPU time per stage, from Spark's REST interface |
| `metrics` | batches of all queries put together as one window |
| `failures` | why a query died: the operator and the user's own line |
| `running`, `batches` | queries as they run, and their batches as they end |
| `means`, `deployment`, `engine` | all of it behind the engine's protocol |
"""
