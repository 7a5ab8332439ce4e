"""HyParView: a small symmetric active view, and a larger passive one to repair it from."""
