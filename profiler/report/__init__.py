"""What the reports of all questions share: words, progress, files of results.

The reports themselves stand in the rooms of their questions.
"""
