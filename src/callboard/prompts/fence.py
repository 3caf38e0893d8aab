"""The fence: untrusted text enters a prompt only as the escaped content of one XML element.

Trusted text is inserted as it is. Fenced text cannot close its element, forge another tag or an
entity; a quotation mark or a Markdown `>` stays readable.
"""

import re
from typing import Final

from callboard.core.vocabulary import Content, Trust

FENCE_TAG: Final = "data"
_REPLACEMENT: Final = "\ufffd"
_ILLEGAL: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)


def legal_text(text: str) -> str:
    """Return text that XML 1.0 can hold: line ends unified, illegal characters replaced."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _ILLEGAL.sub(_REPLACEMENT, text)


def fence(content: Content) -> str:
    """Return content as it may stand in a prompt: trusted as is, untrusted fenced and escaped."""
    if content.trust is Trust.TRUSTED:
        return content.text
    origin = _escape_attribute(legal_text(content.origin))
    text = _escape(legal_text(content.text))
    return f'<{FENCE_TAG} origin="{origin}" trust="untrusted">\n{text}\n</{FENCE_TAG}>'


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("]]>", "]]&gt;")


def _escape_attribute(text: str) -> str:
    escaped = _escape(text).replace(">", "&gt;").replace('"', "&quot;")
    return escaped.replace("\n", "&#10;").replace("\t", "&#9;")
