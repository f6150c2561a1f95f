"""The commands of `profile`, a file each: flags, a request, and the room that answers it."""
