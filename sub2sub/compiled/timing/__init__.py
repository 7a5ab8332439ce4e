"""Milliseconds: how long a message takes between two hosts, and which copy of an event arrives next."""
