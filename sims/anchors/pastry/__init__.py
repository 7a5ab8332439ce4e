"""Pastry: routing by prefixes of identifiers, in a logarithmic number of hops."""
