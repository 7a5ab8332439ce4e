"""Rows of workloads as pure functions of (seed, row), written to folders of any size."""
