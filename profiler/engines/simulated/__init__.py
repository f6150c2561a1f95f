"""A simulated cluster: nodes × cores, tasks as threads, queues with back-pressure, noise from a seed."""
