"""A job as its author writes it, and how it is found: topology, tasks, loading, versions, its code."""
