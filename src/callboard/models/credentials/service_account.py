"""Service accounts: a JSON file of a cloud that takes the place of a key. Checked, never shown."""

import json
from typing import Any, Final, cast

from callboard.core.canonical import compact_json
from callboard.core.errors import InvalidInput
from callboard.models.credentials.secret import Secret

_NEEDED: Final = ("client_email", "private_key", "token_uri", "project_id")


def service_account(text: str) -> Secret:
    """Return a service account's file as one secret."""
    content = _content(text)
    missing = [name for name in _NEEDED if not content.get(name)]
    if content.get("type") != "service_account" or missing:
        lacks = f": it has no {', '.join(missing)}" if missing else ""
        raise InvalidInput(
            f"This is not the file of a service account{lacks}.",
            fix="Create a key of type JSON for the service account, and name the file you get.",
        )
    return Secret(compact_json(content))


def service_account_info(secret: Secret | None) -> dict[str, Any] | None:
    """Return what a service account's secret holds; of a plain key nothing."""
    if secret is None or not secret.reveal().startswith("{"):
        return None
    return _content(secret.reveal())


def _content(text: str) -> dict[str, Any]:
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    return cast("dict[str, Any]", content) if isinstance(content, dict) else {}
