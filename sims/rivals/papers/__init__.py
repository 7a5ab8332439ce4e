"""The systems of the five papers, and the alternatives that these papers compare themselves with."""
