"""How arms are compared: in blocks one after the other, standing or side by side, in turns with looks."""
