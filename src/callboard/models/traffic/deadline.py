"""Deadline: the total time of a request, kept over all attempts and models that share it."""

from dataclasses import replace

from callboard.core.clock import Clock
from callboard.models.types import ModelRequest


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
