"""What rounds tell of a job: features, loads, hot keys, classes of operators."""
