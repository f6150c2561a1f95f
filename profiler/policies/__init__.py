"""Policies: pure strategies that choose the next trial from the history of rounds."""
