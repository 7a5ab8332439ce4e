"""Milliseconds: how long a message takes between two places, and events in the order of time."""
