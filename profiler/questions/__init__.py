"""The questions that the product answers, a room for each."""
