"""Addresses as they may be shown: a name or a password in one never is."""

import re
from typing import Final

_USER: Final = re.compile(r"(?<=://)[^/?#\s\"'<>]*@")


def without_user(text: str) -> str:
    """Return a text in which no URL shows a user name or a password."""
    return _USER.sub("(hidden)@", text) if "@" in text and "://" in text else text
