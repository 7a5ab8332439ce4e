"""Ranges expressed as topics, each encoding on any topic engine (`sims.rivals.below.encoded`)."""
