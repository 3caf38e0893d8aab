"""A cassette: recorded calls, one JSON object per line. Knows the file, asks no model.

Lines are only ever appended, each in one locked write; half a line that a crash left behind is
not read and is removed by the next append.
"""

import fcntl
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from callboard.core.canonical import Json, compact_json, digest
from callboard.core.errors import CallboardError, InvalidInput, NotFound
from callboard.core.tiers import ErrorTier
from callboard.models.types import Ended, ModelRequest, TextChunk, Usage, Working
from callboard.store.files import read_whole_lines

VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Recording:
    """One call: what was asked, every chunk that came, and how it ended."""

    key: str
    request: Mapping[str, Json]
    chunks: tuple[TextChunk | Working, ...]
    ended: Ended | None = None
    error: Mapping[str, Json] | None = None
    line: int = 0

    def to_json(self) -> dict[str, Json]:
        """Return the shape of a line."""
        return {
            "version": VERSION,
            "key": self.key,
            "request": dict(self.request),
            "chunks": [_chunk_to_json(chunk) for chunk in self.chunks],
            "ended": None if self.ended is None else _ended_to_json(self.ended),
            "error": None if self.error is None else dict(self.error),
        }


class CassetteUnusable(CallboardError):
    """A cassette cannot be written."""

    code = "cassette_unusable"
    tier = ErrorTier.USER_FIXABLE


class Cassette:
    """The recordings of a file and how many of each request have been played."""

    def __init__(self, path: Path, recordings: Iterable[Recording]) -> None:
        """Take the recordings in the order of the file."""
        self.path = path
        self.recordings = tuple(recordings)
        self._by_key: dict[str, list[Recording]] = {}
        self._played: dict[str, int] = {}
        for each in self.recordings:
            self._by_key.setdefault(each.key, []).append(each)

    def of(self, key: str) -> tuple[Recording, ...]:
        """Return every recording of a request, in order."""
        return tuple(self._by_key.get(key, ()))

    def next(self, key: str) -> Recording | None:
        """Return the next recording of a request, or nothing if there is none left."""
        known, played = self.of(key), self._played.get(key, 0)
        if played >= len(known):
            return None
        self._played[key] = played + 1
        return known[played]


def request_shape(request: ModelRequest, model: str) -> dict[str, Json]:
    """Return what makes two requests the same: everything the model is told, and nothing else."""
    return {
        "model": model,
        "messages": [{"role": each.role, "content": each.content} for each in request.messages],
        "json_schema": None if request.json_schema is None else dict(request.json_schema),
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "seed": request.seed,
        "stop": list(request.stop),
    }


def request_key(shape: Mapping[str, Json]) -> str:
    """Return the hash by which a request is found again."""
    return digest(dict(shape))


def append_recording(path: Path, recording: Recording) -> None:
    """Add a recording to a file, which is made if need be; durable on return."""
    line = compact_json(recording.to_json()).encode() + b"\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        with os.fdopen(handle, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(_end_of_whole_lines(file))
            file.truncate()
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise CassetteUnusable(
            f"The cassette {path} cannot be written: {error.strerror or error}",
            fix="Name a file in a folder you may write to.",
            path=str(path),
        ) from error


def load_cassette(path: Path) -> Cassette:
    """Read a file; a line that is no recording is an error that names it."""
    if not path.is_file():
        raise NotFound(
            f"There is no cassette {path}",
            fix="Record one first: `--model record:FILE.jsonl:MODEL`.",
            path=str(path),
        )
    lines = enumerate(read_whole_lines(path), start=1)
    return Cassette(path, [_recording(path, number, text) for number, text in lines if text])


def _end_of_whole_lines(file: BinaryIO) -> int:
    end = file.seek(0, os.SEEK_END)
    if end == 0:
        return 0
    file.seek(end - 1)
    if file.read(1) == b"\n":
        return end
    file.seek(0)
    return file.read().rfind(b"\n") + 1


def _recording(path: Path, number: int, text: str) -> Recording:
    try:
        raw: Any = json.loads(text)
        line = cast("dict[str, Any]", raw)
        if line["version"] != VERSION:
            raise ValueError(f"version {line['version']!r} is not known here")
        return Recording(
            key=line["key"],
            request=line["request"],
            chunks=tuple(_chunks(line["chunks"])),
            ended=None if line["ended"] is None else _ended(line["ended"]),
            error=line["error"],
            line=number,
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidInput(
            f"{path}, line {number}: this is no recording ({error})",
            fix="Remove the line, or record the cassette anew.",
            path=str(path),
            line=number,
        ) from error


def _chunk_to_json(chunk: TextChunk | Working) -> dict[str, str]:
    return {"text": chunk.text} if isinstance(chunk, TextChunk) else {"working": chunk.note}


def _chunks(listed: Iterable[Mapping[str, str]]) -> Iterable[TextChunk | Working]:
    for each in listed:
        yield TextChunk(each["text"]) if "text" in each else Working(each["working"])


def _ended_to_json(ended: Ended) -> dict[str, Json]:
    usage = ended.usage
    return {
        "model": ended.model,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "finish_reason": ended.finish_reason,
        "tokens_per_second": ended.tokens_per_second,
    }


def _ended(data: Mapping[str, Any]) -> Ended:
    usage = Usage(data["input_tokens"], data["output_tokens"], data["cached_tokens"])
    return Ended(data["model"], usage, data["finish_reason"], data["tokens_per_second"])
