"""Parameter sweeps: a grid of settings times seeds, one run per task."""
