"""Thresholds of what is read and how much is told."""

from typing import ClassVar

from callboard.library.story.thresholds.source import Section


class FileThresholds(Section):
    """Which files are read at all."""

    section: ClassVar[str] = "files"
    max_file_bytes: int


class SummaryThresholds(Section):
    """How much of a result goes into a summary at most, before a tier cuts it further."""

    section: ClassVar[str] = "summary"
    max_chars: int
    max_quote_chars: int
