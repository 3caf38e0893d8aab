"""How JSON columns are read back."""

import json

from callboard.core.canonical import Json
from callboard.core.errors import ErrorRecord


def decode(text: str | None) -> Json:
    """Return the value of a JSON column; an empty column is None."""
    return json.loads(text) if text is not None else None


def decode_error(text: str | None) -> ErrorRecord | None:
    """Return the error of a JSON column, if any."""
    return ErrorRecord.from_json(json.loads(text)) if text is not None else None
