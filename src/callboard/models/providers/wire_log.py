"""Keeps keys out of what HTTP libraries and SDKs log about a request and its answer.

A server may repeat a key in its headers, and the libraries log those at their most talkative
level. Only their loggers are touched, and only for as long as a connection is open.
"""

import logging
import traceback
from typing import Final

from callboard.models.credentials import Secret
from callboard.models.credentials.secret import Scrubber

_TALKERS: Final = (
    "anthropic",
    "google_genai",
    "groq",
    "httpcore",
    "httpcore2",
    "httpx",
    "httpx2",
    "mistralai",
    "openai",
    "pydantic_ai",
)


class WireLog(logging.Filter):
    """A filter on the loggers of those who carry keys."""

    def __init__(self) -> None:
        """Start without a key and without a logger."""
        super().__init__()
        self._scrubber = Scrubber()
        self._loggers: list[logging.Logger] = []

    def watch(self, secret: Secret | None) -> None:
        """Cut a key out of everything that is logged from now on."""
        if secret is None:
            return
        self._scrubber.add(secret)
        # A filter holds for one logger and not for those below it, so each gets its own.
        for name in list(logging.Logger.manager.loggerDict):
            logger = logging.getLogger(name) if name.partition(".")[0] in _TALKERS else None
            if logger is not None and self not in logger.filters:
                logger.addFilter(self)
                self._loggers.append(logger)

    def release(self) -> None:
        """Leave the loggers as they were."""
        for logger in self._loggers:
            logger.removeFilter(self)
        self._loggers.clear()

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite a record that holds a key; let every record pass."""
        text = record.getMessage()
        if self._scrubber.finds_in(text):
            record.msg, record.args = self._scrubber.scrub(text), ()
        if record.exc_info and record.exc_info[1] is not None:
            told = "".join(traceback.format_exception(record.exc_info[1]))
            if self._scrubber.finds_in(told):
                record.exc_info, record.exc_text = None, self._scrubber.scrub(told)
        return True
