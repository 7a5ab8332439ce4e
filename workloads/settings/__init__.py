"""Settings in TOML files, read by one reader: experiments, sweeps and workload specs.

A dataclass, or a class with an annotated constructor, is the schema of a table (`models`, with `values` and
`alternatives` in it). pydantic checks types and writes the JSON Schema; the class itself refuses values that
cannot be. `problems` turns everything that is wrong into lines with file, line and nearest known key;
`documents` reads and writes the files.

The room is in `workloads` because `sims` may import `workloads` and not the other way round. `sub2sub` and
`hierarchy` need neither it nor pydantic: their settings are plain dataclasses.
"""
