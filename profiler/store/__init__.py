"""The store: where histories of profiles last.

| module | holds |
|---|---|
| `store` | the Protocol that every store keeps; one conformance test class runs on all of them |
| `records` | what is stored, and its plain documents |
| `baselines` | what a gate compares with, and its document |
| `memory`, `mongo` | the stores; `mongo_schema`, `mongo_errors` belong to the latter |
| `keeper`, `unsaved` | the listener that writes while a profile runs, and the file it falls back on |
| `lines`, `exchange` | a history as a file; export and import |
| `resuming` | what an interrupted run can go on with |
"""
