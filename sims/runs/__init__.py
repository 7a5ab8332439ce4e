"""Runs: experiments as TOML files, the folders they are written to, and what makes them go."""
