"""Topics and ranges on one overlay: CAMCAST's tables kept beside the rings, each event by either of them."""
