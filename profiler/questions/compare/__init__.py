"""`profile compare` tells which variant of a job is the fastest, each at its own best."""
