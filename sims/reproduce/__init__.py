"""One experiment for each figure and table of the papers, and some beyond them."""
