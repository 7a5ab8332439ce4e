"""CAMCAST's tables and its dissemination for a population (`hierarchy.peers` has one member)."""
