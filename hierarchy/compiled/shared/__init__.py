"""The shared overlay for a population: CAMCAST's tables beside the rings, and its routing on them."""
