"""The history: what lasts of profiles, gates and comparisons.

| module | holds |
|---|---|
| `store` | the Protocol that every store keeps; one conformance test class runs on all of them |
| `records`, `documents` | what is stored, and its plain documents |
| `migrations` | the versions of documents that last, and the steps between them |
| `unreadable` | what stands for a document that can't be read |
| `baselines` | what a gate compares with, and its document |
| `memory`, `mongo` | the two stores |
| `keeper` | the listener that writes while a profile runs |
| `files` | a history as a file: export, import, and what a lost database missed |
| `session` | the history of one command: opened, written while it measures, gone on with |
| `fingerprint` | what a stored profile holds for |
| `pruning` | what a history can do without |
"""
