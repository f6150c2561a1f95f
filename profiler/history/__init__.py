"""The store: where histories of profiles last.

| module | holds |
|---|---|
| `store` | the Protocol that every store keeps; one conformance test class runs on all of them |
| `records` | what is stored, and its plain documents |
| `baselines` | what a gate compares with, and its document |
| `memory`, `mongo` | the stores; `mongo_schema`, `mongo_errors` belong to the latter |
| `keeper`, `unsaved` | the listener that writes while a profile runs, and the file it falls back on |
| `lines`, `exchange` | a history as a file; export and import |
| `resuming`, `gate_resuming` | what an interrupted profile or gate can go on with |
| `pruning` | what a history can do without |
"""
