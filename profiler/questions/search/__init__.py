"""`profile run` finds the tasks per operator that give the most throughput in time."""
