"""Messages in and out: the generator, payloads, and samples of real topics."""
