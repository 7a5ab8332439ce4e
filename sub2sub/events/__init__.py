"""Events: from a publisher to a first match, along the ring and across it, and what became of them."""
