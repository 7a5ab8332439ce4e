"""Runs of experiments: the run folder, checkpoints and resuming, figures, the memory estimate."""
