"""How long a server waits for its clients; tests wait less."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds for each thing a client may be slow at."""

    # From the first byte of a request, or from the opening of its connection, to the end of its
    # headers, however they trickle in.
    head_seconds: float = 20.0
    # For a body of no length; a longer one has more, by the slowest rate that is put up with.
    body_seconds: float = 20.0
    slowest_bytes_a_second: int = 50_000
    # For what is left of a body that was answered without being read.
    rest_seconds: float = 5.0
    # Until a client takes more of its answer.
    taking_seconds: float = 60.0
    # For another request on the same connection. Longer than clients wait, so that it is they who
    # close it: where the server does, a request that is under way at that moment is lost.
    keep_alive_seconds: int = 75

    def for_body(self, length: int) -> float:
        """Return how long a body of so many bytes may take."""
        return self.body_seconds + length / self.slowest_bytes_a_second


PATIENCE = Patience()
