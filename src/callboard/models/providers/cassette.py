"""Cassettes: the providers behind `record:FILE:MODEL` and `replay:FILE:MODEL`.

Recording passes everything on and writes down what a model answered. Replaying needs no model, no
key and no network, and never invents an answer.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from callboard.core.canonical import Json
from callboard.core.classify import Classifier
from callboard.models.credentials.secret import Scrubber
from callboard.models.gate import Routes
from callboard.models.model_id import split_cassette
from callboard.models.providers.cassette_error import error_of, error_shape, is_recordable
from callboard.models.providers.cassette_file import (
    Cassette,
    Recording,
    append_recording,
    load_cassette,
    request_key,
    request_shape,
)
from callboard.models.providers.cassette_miss import miss
from callboard.models.types import Ended, ModelRequest, ProviderChunk, TextChunk, Working

Scrub = Callable[[str], str]
"""Cuts keys out of a text."""


class Recorder:
    """Answers for `record:FILE:MODEL` with what the model says, and adds it to the file."""

    constrains_json = False

    def __init__(
        self,
        routes: Routes,
        folder: Path,
        *,
        below: Sequence[Path] = (),
        scrub: Scrub | None = None,
        classifier: Classifier | None = None,
    ) -> None:
        """Take the way to the models, the folder relative files lie in, and who removes keys.

        Links are not followed in that folder, nor in those of `below`.
        """
        self._routes = routes
        self._folder = folder
        self._below = (*below, folder)
        self._scrub = scrub or Scrubber().scrub
        self._classifier = classifier or Classifier()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderChunk]:
        """Yield what the model yields; a call that ends or fails is recorded before that is seen.

        A call that is given up half-way has no ending and is not recorded.
        """
        wanted = split_cassette(request.model)
        inner = self._routes.provider_of(wanted.model)
        chunks: list[TextChunk | Working] = []
        chunk: ProviderChunk | None = None
        shape = request_shape(request, wanted.model)
        path = self._folder / wanted.file
        try:
            async with aclosing(inner.stream(replace(request, model=wanted.model))) as source:
                async for chunk in source:
                    if isinstance(chunk, Ended):
                        await self._keep(path, shape, chunks, ended=chunk)
                    else:
                        chunks.append(chunk)
                    yield chunk
            if not isinstance(chunk, Ended):
                # A stream that merely ends is a failure too, and plays as one.
                await self._keep(path, shape, chunks)
        except Exception as error:
            if is_recordable(error):
                told = error_shape(error, wanted.model, self._classifier, self._scrub)
                await self._keep(path, shape, chunks, error=told)
            raise

    async def close(self) -> None:
        """Hold nothing: the models belong to the gate."""

    async def _keep(
        self,
        path: Path,
        shape: dict[str, Json],
        chunks: list[TextChunk | Working],
        *,
        ended: Ended | None = None,
        error: dict[str, Json] | None = None,
    ) -> None:
        recording = Recording(
            # Of the request as it is: who replays it has the same words, but not the same keys.
            key=request_key(shape),
            request=_scrubbed(shape, self._scrub),
            chunks=_without_keys(chunks, self._scrub),
            ended=ended,
            error=error,
        )
        await asyncio.to_thread(append_recording, path, recording, self._below)


class Replayer:
    """Answers for `replay:FILE:MODEL` from the file, in the pieces in which it was said."""

    constrains_json = False

    def __init__(self, folder: Path, below: Sequence[Path] = ()) -> None:
        """Take the folder relative files lie in; in it and in `below` no link is followed."""
        self._folder = folder
        self._below = (*below, folder)
        self._cassettes: dict[str, Cassette] = {}

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderChunk]:
        """Yield the next recording of a request; what is not there is a `CassetteMiss`."""
        wanted = split_cassette(request.model)
        cassette = await self._cassette(wanted.file)
        shape = request_shape(request, wanted.model)
        key = request_key(shape)
        recording = cassette.next(key)
        if recording is None:
            raise miss(cassette, key, shape)
        for chunk in recording.chunks:
            # One turn of the loop per chunk: other tasks run in between, as with a real provider.
            await asyncio.sleep(0)
            yield chunk
        if recording.error is not None:
            raise error_of(recording.error)
        if recording.ended is not None:
            yield replace(recording.ended, model=request.model)

    async def close(self) -> None:
        """Forget what was read."""
        self._cassettes.clear()

    async def _cassette(self, file: str) -> Cassette:
        if file not in self._cassettes:
            path = self._folder / file
            loaded = await asyncio.to_thread(load_cassette, path, self._below)
            self._cassettes.setdefault(file, loaded)
        return self._cassettes[file]


def _scrubbed(value: Json, scrub: Scrub) -> Json:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, list):
        return [_scrubbed(each, scrub) for each in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {name: _scrubbed(each, scrub) for name, each in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return value


def _without_keys(
    chunks: list[TextChunk | Working], scrub: Scrub
) -> tuple[TextChunk | Working, ...]:
    said = "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))
    clean = scrub(said)
    # A key may be spread over several pieces: then the text is kept in one.
    return tuple(chunks) if clean == said else (TextChunk(clean),)
