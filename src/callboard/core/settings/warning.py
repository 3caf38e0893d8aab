"""What was wrong in the settings, said so that the user can mend it. Never shows a secret."""

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from callboard.core.canonical import Json, plain
from callboard.core.settings.layers import LayerName
from callboard.core.settings.schema import Key
from callboard.core.urls import without_user

_SECRET: Final = re.compile(r"key|token|secret|password|credential", re.IGNORECASE)
_LONGEST: Final = 60


class WarningKind(StrEnum):
    """What kind of thing was wrong."""

    UNREADABLE = "unreadable_file"
    BAD_VALUE = "bad_value"
    UNKNOWN_KEY = "unknown_key"
    UNKNOWN_VARIABLE = "unknown_variable"
    RESTRICTED = "restricted_key"


@dataclass(frozen=True, slots=True)
class SettingsWarning:
    """One thing that was wrong: where, which key, what was rejected, what is used instead."""

    kind: WarningKind
    layer: LayerName
    source: str
    message: str
    key: str = ""
    rejected: str = ""
    used: str = ""
    line: int | None = None

    @property
    def stops_reload(self) -> bool:
        """Whether a reload is refused for it; what only a restart can mend never does."""
        if self.layer is LayerName.FLAGS:
            return False
        if self.kind is WarningKind.UNREADABLE:
            return True
        return self.kind is WarningKind.BAD_VALUE and self.layer is not LayerName.ENVIRONMENT

    def __str__(self) -> str:
        """Return one line: where, then what."""
        where = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{where}: {self.message}"


def show(key: Key, value: Json) -> str:
    """Return a value as it may be shown: short, and hidden where a secret could stand."""
    if key and _SECRET.search(key[-1]) and value is not None:
        return "(hidden)"
    text = without_user(json.dumps(plain(value), ensure_ascii=False))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
