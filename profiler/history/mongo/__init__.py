"""The history in MongoDB."""
