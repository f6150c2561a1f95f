"""A chain of operators as a streaming query."""
