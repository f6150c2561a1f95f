"""`profile recalibrate` tells whether a stored profile is still right."""
