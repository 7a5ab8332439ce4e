"""Well-known alternatives, written from their papers and specifications; each file lists its readings."""
