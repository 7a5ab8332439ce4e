"""Topics or ranges for a table of one's own: what its columns are, and a sentence on what they cost."""
