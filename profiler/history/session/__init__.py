"""The history of one command: opened, written while it measures, gone on with."""
