"""Delivered: the text a caller has been handed so far, so that none is voided or lost silently."""

from callboard.core.errors import ProviderError
from callboard.models.types import Chunk, Restarted, TextChunk


class Delivered:
    """Follows the chunks of one call over all its attempts."""

    def __init__(self) -> None:
        """Start before the first chunk."""
        self._parts: list[str] = []
        self._longest = ""

    @property
    def text(self) -> str:
        """What stands in the caller's hands now."""
        return "".join(self._parts)

    def take(self, chunk: Chunk) -> None:
        """Follow one chunk."""
        if isinstance(chunk, TextChunk):
            self._parts.append(chunk.text)
        elif isinstance(chunk, Restarted):
            self.void()

    def void(self) -> str:
        """Start again, and return what was delivered until now."""
        text = self.text
        self._parts.clear()
        self._longest = max(self._longest, text, key=len)
        return text

    def save_in(self, error: ProviderError) -> None:
        """Give an error the longest text any attempt had produced, unless it has its own."""
        kept = max(self._longest, self.text, key=len)
        if kept and not error.partial:
            error.partial = kept
            error.context["partial"] = kept
