"""The command line: `app` is the program, `commands` has one module per command, `console` shows progress."""
