"""Settings in TOML files, read by one reader: experiments, sweeps and workload specs.

A dataclass, or a class with an annotated constructor, is the schema of a table (`models`, with `values` and
`alternatives`). pydantic checks types and writes the JSON Schema; the class itself refuses invalid values.
`problems` turns all errors into lines with the key and the most similar known key; `documents` adds the file
and the line.

This folder is in `workloads` because `sims` may import `workloads`, but not the reverse. `sub2sub` and
`hierarchy` need neither it nor pydantic: their settings are plain dataclasses.
"""
