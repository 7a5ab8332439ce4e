"""The log of a node: one JSON object a line."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

OURS = ("sub2sub", "hierarchy", "sims")
USUAL = logging.makeLogRecord({}).__dict__.keys() | {"message", "taskName"}


class JsonLines(logging.Formatter):
    """Writes a record as JSON: its time, level and text, and whatever else the caller says of it.

    Examples
    --------
    >>> record = logging.makeLogRecord({"created": 0.0, "levelname": "INFO", "msg": "left", "peers": 2})
    >>> JsonLines().format(record)
    '{"time": "1970-01-01T00:00:00.000+00:00", "level": "info", "text": "left", "peers": 2}'
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        said = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "text": record.getMessage(),
            **{name: value for name, value in record.__dict__.items() if name not in USUAL},
        }
        if record.exc_info:
            said["traceback"] = self.formatException(record.exc_info)
        return json.dumps(said, default=str)


def log_to_standard_error(level: str) -> None:
    """Write the log of our packages to standard error from a level on; others may ask for all of it."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    handler.setLevel(level.upper())
    logging.getLogger().addHandler(handler)
    for name in OURS:
        logging.getLogger(name).setLevel(logging.DEBUG)
