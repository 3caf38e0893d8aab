"""Prefixed ids that sort by creation: `run_…`, `rcpt_…`, `sess_…`."""

import secrets
from collections.abc import Callable
from threading import Lock
from typing import Final

from callboard.core.clock import Clock
from callboard.core.errors import InvalidInput

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME_CHARS: Final = 10
_RANDOM_BITS: Final = 80
_RANDOM_CHARS: Final = 16

type_prefixes: Final = {
    "run": "run_",
    "session": "sess_",
    "receipt": "rcpt_",
    "prompt": "prm_",
    "question": "qst_",
    "signal": "sig_",
    "process": "proc_",
    "nonce": "nonce_",
    "call": "call_",
    "reservation": "rsv_",
    "conference": "conf_",
    "plan": "sp_",
    "project": "proj_",
    "import": "imp_",
    "fact": "fact_",
    "edit": "edit_",
    "proposal": "prop_",
}


class IdMaker:
    """Makes ids that grow even when the clock stands still or runs backwards."""

    def __init__(self, clock: Clock, random_bits: Callable[[int], int] = secrets.randbits) -> None:
        """Take time and randomness from the caller."""
        self._clock = clock
        self._random_bits = random_bits
        self._last_ms = 0
        self._last_random = 0
        # Ids are made on the event loop and on worker threads; two must never be alike.
        self._lock = Lock()

    def make(self, kind: str) -> str:
        """Return a new id of a known kind, larger than every id made here before."""
        prefix = type_prefixes.get(kind)
        if prefix is None:
            raise InvalidInput(
                f"No id prefix is known for {kind!r}.",
                fix=f"Use one of: {', '.join(sorted(type_prefixes))}.",
            )
        now_ms = self._clock.now_ms()
        with self._lock:
            moment, random = self._advance(now_ms)
        return prefix + _encode(moment, _TIME_CHARS) + _encode(random, _RANDOM_CHARS)

    def _advance(self, now_ms: int) -> tuple[int, int]:
        if now_ms > self._last_ms:
            self._last_ms = now_ms
            self._last_random = self._random_bits(_RANDOM_BITS)
        else:
            self._last_random += 1
            if self._last_random >> _RANDOM_BITS:
                self._last_ms += 1
                self._last_random = 0
        return self._last_ms, self._last_random


def _encode(number: int, width: int) -> str:
    chars: list[str] = []
    for _ in range(width):
        chars.append(_ALPHABET[number & 31])
        number >>= 5
    return "".join(reversed(chars))
