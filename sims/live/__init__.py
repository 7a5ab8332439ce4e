"""Swarms of live peers in real processes on this machine: started, watched, measured, killed."""
