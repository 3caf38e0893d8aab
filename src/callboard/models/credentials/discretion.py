"""Discretion: the user's own keys leave this process only towards their provider.

Wherever text is stored or sent, in prompts, replies and what tools found, a known key is taken out.
Knows keys from the environment and the encrypted files when the first text comes by; one from the
keyring from the moment it is used, because looking there may ask the user to unlock it.
"""

import json
import threading
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from callboard.core.canonical import Json
from callboard.models.credentials.credentials import Credentials
from callboard.models.credentials.secret import Scrubber
from callboard.models.credentials.source import (
    CredentialsUnreadable,
    CredentialsUnusable,
    account_of,
)
from callboard.models.gate import Gate, WrapperGate
from callboard.models.types import Chunk, Finished, ModelReply, ModelRequest, Restarted, TextChunk

Hide = Callable[[str], str]


class Discretion:
    """Takes the keys of one user out of texts."""

    def __init__(
        self, keys: Credentials, names: Iterable[tuple[str, tuple[str, ...]]] = ()
    ) -> None:
        """Take where keys are found, and the providers with the variables that may hold theirs."""
        self._keys = keys
        self._names = tuple(names)
        self._lock = threading.Lock()
        self._has_looked = False

    def hide(self, text: str) -> str:
        """Return a text without any key that is known."""
        return self._scrubber().hide(text)

    def hide_json(self, value: Json) -> Json:
        """Return a JSON value without any key that is known, in names and texts."""
        scrubber = self._scrubber()
        if not scrubber.knows_any:
            return value
        return _hidden(value, scrubber)

    def stream(self) -> "HiddenStream":
        """Begin a text that comes in pieces."""
        return HiddenStream(self._scrubber())

    @property
    def is_needed(self) -> bool:
        """Whether any key is known that could stand in a text."""
        return self._scrubber().knows_any

    def _scrubber(self) -> Scrubber:
        if not self._has_looked:
            with self._lock:
                if not self._has_looked:
                    self._look()
                    self._has_looked = True
        return self._keys.scrubber

    def _look(self) -> None:
        for provider, variables in self._names:
            try:
                self._keys.learn(account_of(provider), variables)
            except (CredentialsUnreadable, CredentialsUnusable):
                # Whoever needs that key is told so; nobody can send what nobody can read.
                continue


class HiddenStream:
    """A text in pieces: what may be the beginning of a key is held back until it is clear."""

    def __init__(self, scrubber: Scrubber) -> None:
        """Take the known keys."""
        self._scrubber = scrubber
        self._held = ""

    def feed(self, piece: str) -> str:
        """Take the next piece and return what is safe to show."""
        text = self._scrubber.hide(self._held + piece)
        cut = len(text) - self._scrubber.beginning_at_end_of(text)
        self._held = text[cut:]
        return text[:cut]

    def end(self) -> str:
        """Return what was held back and turned out to be harmless."""
        rest, self._held = self._held, ""
        return rest


def _hidden(value: Any, scrubber: Scrubber) -> Any:
    text = json.dumps(value, ensure_ascii=False)
    hidden = scrubber.hide(text)
    return value if hidden == text else json.loads(hidden)


class DiscreetGate(WrapperGate):
    """Takes known keys out of requests and replies."""

    def __init__(self, inner: Gate, discretion: Discretion) -> None:
        """Take the gate to wrap and what must not pass it."""
        super().__init__(inner)
        self._discretion = discretion

    def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Yield the reply as it is written, each piece once no key can begin at its end."""
        if not self._discretion.is_needed:
            return self.inner.stream(request)
        return self._hidden(request)

    async def _hidden(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        hide, shown = self._discretion.hide, self._discretion.stream()
        messages = tuple(replace(each, content=hide(each.content)) for each in request.messages)
        async with aclosing(self.inner.stream(replace(request, messages=messages))) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, TextChunk):
                    if text := shown.feed(chunk.text):
                        yield TextChunk(text)
                    continue
                if isinstance(chunk, Restarted):
                    shown.end()
                elif isinstance(chunk, Finished):
                    if text := shown.end():
                        yield TextChunk(text)
                    chunk = Finished(self._hide_reply(chunk.reply))
                yield chunk

    def _hide_reply(self, reply: ModelReply) -> ModelReply:
        return replace(
            reply,
            text=self._discretion.hide(reply.text),
            data=self._discretion.hide_json(reply.data),
        )
