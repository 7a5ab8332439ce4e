"""TOML: every key is found on its line, overrides set their values, values are written in one line."""

from __future__ import annotations

import tomllib

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from sub2sub.errors import InputError
from workloads.settings.toml import line_of, override, value_as_toml

VALUES = st.one_of(
    st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text(max_size=8),
    st.lists(st.integers(-9, 9), max_size=3),
)  # fmt: skip
NAMES = st.from_regex(r"[a-z]{1,4}", fullmatch=True)
TABLES = st.recursive(
    st.dictionaries(NAMES, VALUES, max_size=3),
    lambda inner: st.dictionaries(
        NAMES, st.one_of(VALUES, inner, st.lists(inner, min_size=1, max_size=2)), max_size=3
    ),
    max_leaves=8,
)


def keys(data, key=()):
    for name, value in data.items() if isinstance(data, dict) else enumerate(data):
        if isinstance(data, dict):
            yield (*key, name)
        if isinstance(value, dict) or (isinstance(value, list) and value and isinstance(value[0], dict)):
            yield from keys(value, (*key, name))


@given(TABLES)
def test_every_key_is_found_on_the_line_that_names_it(data: dict):
    text = tomlkit.dumps(data)
    for key in keys(data):
        line = line_of(text, key)
        assert line is not None
        assert str(key[-1]) in text.split("\n")[line - 1]


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ('s = """\nb = 1\n"""\nb = 2', ("b",), 4),
        ("a.b = 1\na.c = 2", ("a", "c"), 2),
        ("x = [\n  1,\n]\n\n# y = 2\ny = 3", ("y",), 6),
        ("[[f]]\nk = 1\n[[f]]\nk = 2", ("f", 1, "k"), 4),
        ("t = { a = 1, b = 2 }", ("t", "b"), 1),
        ("[t]\na = 1", ("t", "missing"), 1),
        ("a = 1", ("missing",), None),
    ],
)
def test_lines_are_found_through_strings_lists_comments_and_repeated_tables(text, key, line):
    assert line_of(text, key) == line


def test_an_override_does_not_go_through_a_value():
    with pytest.raises(InputError, match=r"cycles\.x: cycles is no table"):
        override({"cycles": 3}, ("cycles", "x"), 1)


@given(st.one_of(VALUES, TABLES))
def test_a_value_is_written_in_one_line(value):
    text = value_as_toml(value)
    assert "\n" not in text
    assert tomllib.loads(f"value = {text}") == {"value": value}
