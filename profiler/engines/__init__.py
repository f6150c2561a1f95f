"""Engines: what a topology runs on, and how the one that is asked for is opened."""
