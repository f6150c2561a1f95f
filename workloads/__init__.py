"""Workloads that ship with the profiler, one readable file each."""
