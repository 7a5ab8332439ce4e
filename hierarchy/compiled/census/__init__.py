"""The census of a community: members estimate its size, and detect that it has split into parts."""
