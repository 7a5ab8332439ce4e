"""One live peer without clock and socket: what it makes of ticks, messages and silence."""
