"""The discreet gate: no key of the user's own in what is asked, nor in what is answered."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from callboard.models.credentials.discretion import Discretion
from callboard.models.gate import Gate, WrapperGate
from callboard.models.types import (
    Chunk,
    Finished,
    ModelReply,
    ModelRequest,
    Restarted,
    TextChunk,
)


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
