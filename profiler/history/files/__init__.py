"""The history in files."""
