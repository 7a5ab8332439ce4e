"""Code that settings name as `module:name`, imported only with the user's consent.

A file from somebody else may name any module that can be imported, and importing a module runs its code. So a
module that is not part of this project is imported only if the user has allowed it, by `--allow MODULE` or in
the environment (`SUB2SUB_ALLOW=MODULE,MODULE`, which worker processes inherit). Allowing a package allows all
modules in it. Modules are searched on Python's path and in the working directory.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, get_type_hints

from sub2sub.errors import InputError

VARIABLE = "SUB2SUB_ALLOW"
OURS = ("sub2sub", "hierarchy", "workloads", "sims")


def allow(modules: Iterable[str]) -> None:
    """Consent to code from these modules, in this process and those it starts."""
    given = [*_consented(), *modules]
    if given:
        os.environ[VARIABLE] = ",".join(dict.fromkeys(given))


def allowed(module: str, ours: bool = True) -> bool:
    """Whether code from a module may run: it is ours, or the user allowed it or a package that contains it.

    Examples
    --------
    >>> allowed("sims.runs.sweeping"), allowed("somebody.elses")
    (True, False)
    """
    parts = module.split(".")
    packages = {".".join(parts[: k + 1]) for k in range(len(parts))}
    return (ours and parts[0] in OURS) or not packages.isdisjoint(_consented())


def is_plugin(name: object) -> bool:
    """Whether a setting names code, rather than a part of this project by its short name.

    Examples
    --------
    >>> is_plugin("mine:Storm"), is_plugin("crash"), is_plugin("camcast on rings")
    (True, False, False)
    """
    return isinstance(name, str) and ":" in name


def plugin(name: str, field: str = "", trusted: bool = False, ours: bool = True) -> Any:
    """The object that `module:name` refers to.

    Parameters
    ----------
    name : str
    field : str
        Name of the setting in error messages.
    trusted : bool
        Whether no consent is needed: the name comes from a program, or the user has consented before.
    ours : bool
        Whether code of this project needs no consent. False where some arguments could do harm.

    Raises
    ------
    InputError
        If there is no consent, or no such object.

    Examples
    --------
    >>> plugin("sims.engine:Schedule").__name__
    'Schedule'
    """
    start = f"{field}: " if field else ""
    module, _, attribute = name.partition(":")
    if not all(part.isidentifier() for part in [*module.split("."), attribute]):
        raise InputError(f"{start}expected module:name, got {name!r}")
    if not (trusted or allowed(module, ours)):
        root = module.partition(".")[0]
        raise InputError(
            f"{start}{name} is code from a module of its own, which runs only with consent: "
            f"--allow {root}, if you trust it"
        )
    # Not for ours: what is imported later, such as Arrow, must not be found in a folder from somebody else.
    if module.partition(".")[0] not in OURS and "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise InputError(f"{start}cannot import {module}: {error}") from None
    except AttributeError:
        raise InputError(f"{start}{module} has no {attribute}") from None


def _consented() -> list[str]:
    return [name.strip() for name in os.environ.get(VARIABLE, "").split(",") if name.strip()]


def maker(found: Any, given: int, make: Callable[..., Any]) -> Callable[..., Any]:
    """`make` with the signature of a user's class or function, without its first `given` parameters.

    Raises
    ------
    InputError
        For a parameter without a type, because its values could not be checked.

    Examples
    --------
    >>> def storm(simulation: object, share: float = 0.1) -> None:
    ...     "A share of the peers crash."
    >>> made = maker(storm, 1, dict)
    >>> made(share=0.5), list(inspect.signature(made).parameters)
    ({'share': 0.5}, ['share'])
    """
    own = list(inspect.signature(found).parameters.values())[given:]
    hints = get_type_hints(found.__init__ if inspect.isclass(found) else found, include_extras=True)
    for each in own:
        if each.name not in hints:
            raise InputError(
                f"{found.__module__}:{found.__name__}: expected a type for its parameter {each.name!r}, "
                f"such as {each.name}: float, so that settings can be checked"
            )

    def made(**settings: Any) -> Any:
        return make(**settings)

    made.__name__, made.__doc__, made.__module__ = found.__name__, found.__doc__, found.__module__
    made.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
    made.__annotations__ = {each.name: hints[each.name] for each in own}
    return made
