"""Settings for tests: a scripted model, and every failure seen at once instead of retried."""

from typing import Any, Final

_ONCE: Final = {"max_attempts": 1}

SCRIPTED: Final[dict[str, Any]] = {
    "models": {"default": "script"},
    "errors": {
        "retry": {"transient": _ONCE, "external_rate_limit": _ONCE, "external_degrading": _ONCE}
    },
}
"""Flags for `Opening`: the model is the script, and no call is made twice."""
