"""PolderCast: a ring for each topic over random and interest links, and random shortcuts across it."""
