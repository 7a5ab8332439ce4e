"""The commands of `sub2sub`, a module each: `command` runs, the docstring's first line is the summary."""
