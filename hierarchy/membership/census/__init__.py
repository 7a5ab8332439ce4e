"""The census of a community: its members estimate its size, and notice when it has fallen apart."""
