"""Workload folders and foreign tables on disk: layout, reading, importing."""
