"""The commands of `sub2sub`, one module each: `command` is the command, the first line here its summary."""
