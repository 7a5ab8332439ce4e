"""Events: how publishers find a first match, how peers forward events along rings, and their outcomes."""
