"""The experiments of Sub-2-Sub, and of the overlay beneath it."""
