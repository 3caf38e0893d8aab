"""The log as a command shows it: on standard error, without what could steer a terminal."""

import logging

from callboard.cli.output import clean


class _Cleaned(logging.Formatter):
    """Writes the message; a stranger's words in it are only ever text."""

    def format(self, record: logging.LogRecord) -> str:
        """Return what is written."""
        return clean(super().format(record))


def clean_log() -> None:
    """Have what nobody else handles written cleanly; the server brings its own handlers."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_Cleaned("%(message)s"))
