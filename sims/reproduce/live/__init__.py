"""Measurements of live peers in real processes, beside what the simulator says of the same settings."""
