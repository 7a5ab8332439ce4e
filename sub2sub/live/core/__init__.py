"""One live peer without clock and socket: how it reacts to ticks, messages and missing answers."""
