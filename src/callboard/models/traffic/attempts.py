"""What all attempts of one request share: its total time, and the text its caller already has."""

from dataclasses import replace

from callboard.core.clock import Clock
from callboard.core.errors import ProviderError
from callboard.models.types import Chunk, ModelRequest, Restarted, TextChunk


class Deadline:
    """Runs from the moment it is made; a request that names no time has none."""

    def __init__(self, request: ModelRequest, clock: Clock) -> None:
        """Start the time of a request."""
        self._clock = clock
        total = request.timeout_seconds
        self._until = None if total is None else clock.monotonic() + total

    def leaves(self, seconds: float) -> bool:
        """Say whether there is time for something after waiting so long."""
        return self._until is None or self._clock.monotonic() + seconds < self._until

    def bound(self, request: ModelRequest) -> ModelRequest:
        """Return a request that ends in time."""
        if self._until is None:
            return request
        # Never quite nothing: that would stand for no limit at all.
        left = max(0.001, self._until - self._clock.monotonic())
        return replace(request, timeout_seconds=left)


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
