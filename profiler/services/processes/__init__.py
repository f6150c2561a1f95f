"""Processes that end with this one, whatever happens to either, and are found again by the mark that they carry."""
