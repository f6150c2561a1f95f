"""The Spark session and the machine under it."""
