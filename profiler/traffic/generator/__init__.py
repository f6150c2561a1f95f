"""The message generator: an open-loop child process that replays a workload file into Kafka topics.

| module | holds |
|---|---|
| `pacing` | when each message is due: pure, no drift, no coordinated omission |
| `payloads` | the workload file: its format, its limits, its errors |
| `producer` | what sends messages that are due, stamped with the time they were due |
| `wire` | the JSON lines between the two processes |
| `child`, `__main__` | the process that generates; it ends when its standard input closes |
| `process`, `achieved` | its handle in the parent: start, set the rate, what a window achieved, stop |
| `standalone` | a bounded run without a profile around it |

The parent's side imports no Kafka client; only the child does.
"""
