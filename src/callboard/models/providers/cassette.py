"""Cassettes: the providers behind `record:FILE:MODEL` and `replay:FILE:MODEL`.

A request that a cassette does not hold is refused with what is nearest and how it differs.

Recording passes everything on and writes down what a model answered. Replaying needs no model, no
key and no network, and never invents an answer.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Final

from callboard.core.canonical import Json, compact_json
from callboard.core.classify import Classifier
from callboard.core.errors import ProviderError
from callboard.core.words import shorten
from callboard.models.catalog import split_cassette
from callboard.models.credentials.secret import Scrubber
from callboard.models.gate import Routes
from callboard.models.providers.cassette_file import (
    Cassette,
    Recording,
    append_recording,
    error_of,
    error_shape,
    is_recordable,
    load_cassette,
    request_key,
    request_shape,
)
from callboard.models.types import Ended, ModelRequest, ProviderChunk, TextChunk, Working

_COMPARED_CHARS: Final = 4_000
_SHOWN_CHARS: Final = 60
_SHOWN_DIFFERENCES: Final = 3


class CassetteMiss(ProviderError):
    """A cassette was asked for a call it does not hold."""

    code = "cassette_miss"


def miss(cassette: Cassette, key: str, shape: Mapping[str, Any]) -> CassetteMiss:
    """Return the error for a request that is not, or no longer, on the cassette."""
    name = cassette.path.name
    fix = "Record it: the same model id with `record:` in place of `replay:` adds to the cassette."
    played = cassette.of(key)
    if played:
        times = "once" if len(played) == 1 else f"{len(played)} times"
        return CassetteMiss(
            f"{name} holds this request {times}, and it is asked once more.", fix=fix
        )
    nearest = _nearest(cassette, shape)
    if nearest is None:
        return CassetteMiss(f"{name} holds no recordings.", fix=fix)
    differences = list(_differences(nearest.request, shape))
    told = "; ".join(differences[:_SHOWN_DIFFERENCES])
    if len(differences) > _SHOWN_DIFFERENCES:
        told += f"; and {len(differences) - _SHOWN_DIFFERENCES} more"
    return CassetteMiss(
        f"{name} does not hold this request. The nearest recording, in line {nearest.line}, "
        f"differs: {told or 'only in what was removed from it as a secret'}.",
        fix=fix,
        line=nearest.line,
    )


def _nearest(cassette: Cassette, shape: Mapping[str, Any]) -> Recording | None:
    wanted = _text(shape)
    matcher = SequenceMatcher(None, b=wanted, autojunk=True)

    def likeness(recording: Recording) -> tuple[float, float]:
        matcher.set_seq1(_text(recording.request))
        same = sum(recording.request.get(name) == value for name, value in shape.items())
        return matcher.quick_ratio(), same

    return max(cassette.recordings, key=likeness, default=None)


def _text(shape: Mapping[str, Any]) -> str:
    messages = shape.get("messages", ())
    return "\n".join(str(each.get("content", "")) for each in messages)[-_COMPARED_CHARS:]


def _differences(recorded: Mapping[str, Any], asked: Mapping[str, Any]) -> Iterator[str]:
    for name, value in asked.items():
        known = recorded.get(name)
        if known == value:
            continue
        if name == "messages":
            yield from _message_differences(known or [], value)
        else:
            yield f"{name} is {_shown(value)} and was {_shown(known)}"


def _message_differences(recorded: list[Any], asked: list[Any]) -> Iterator[str]:
    if len(recorded) != len(asked):
        yield f"there are {len(asked)} messages and were {len(recorded)}"
    for number, (known, new) in enumerate(zip(recorded, asked, strict=False), start=1):
        if known["role"] != new["role"]:
            yield f"message {number} is by {new['role']} and was by {known['role']}"
        elif known["content"] != new["content"]:
            yield f"message {number} {_text_difference(known['content'], new['content'])}"


def _text_difference(known: str, new: str) -> str:
    start = next(
        (place for place, (a, b) in enumerate(zip(known, new, strict=False)) if a != b),
        min(len(known), len(new)),
    )
    # A little of what still agrees shows where it is.
    begin = max(0, start - 20)
    return f"says {_shown(new[begin:])} and said {_shown(known[begin:])} at character {start + 1}"


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else compact_json(value)
    return shorten(text, _SHOWN_CHARS, on_top=True)


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
