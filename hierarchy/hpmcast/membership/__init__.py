"""hpmcast's membership: tables of lines per level, condensed and pulled by gossip (Sections 4.2, 6.1)."""
