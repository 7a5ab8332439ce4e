"""Nodes over TCP: connections, timers and TLS around the cores, and the interface for applications."""
