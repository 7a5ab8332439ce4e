"""P-Grid: a distributed trie in which members of a community are found by routing (Aberer et al.)."""
