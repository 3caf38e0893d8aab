"""A cassette: recorded calls and failures, one JSON object per line. Asks no model.

Lines are only ever appended, each in one locked write; half a line that a crash left behind is
not read and is removed by the next append. A file that does not begin as a cassette is not touched.
"""

import fcntl
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from callboard.core.canonical import Json, compact_json, digest
from callboard.core.classify import Classifier, status_of
from callboard.core.errors import CallboardError, ErrorTier, InvalidInput, NotFound, ProviderError
from callboard.models import errors
from callboard.models.errors import as_provider_error
from callboard.models.providers.plain_file import FileUnusable, open_plain, read_plain, refuse_large
from callboard.models.types import Ended, ModelRequest, TextChunk, Usage, Working

VERSION: Final = 1
MOST_BYTES: Final = 256_000_000
_BEGINNING: Final = b'{"version":'
"""How every recording begins, and so every cassette."""
_BLOCK_BYTES: Final = 65_536


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


class CassetteUnusable(FileUnusable):
    """A cassette cannot be written."""

    code = "cassette_unusable"


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


def append_recording(path: Path, recording: Recording, below: Sequence[Path] = ()) -> None:
    """Add a recording to a file, which is made if need be; durable on return.

    `below` are folders in which no link is followed.
    """
    line = compact_json(recording.to_json()).encode() + b"\n"
    try:
        with open_plain(path, os.O_RDWR | os.O_CREAT, below=below) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            refuse_large(file, path, MOST_BYTES - len(line))
            _refuse_others(file, path)
            file.seek(_end_of_whole_lines(file))
            file.truncate()
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
    except FileUnusable as error:
        if isinstance(error, CassetteUnusable):
            raise
        told = f"The cassette cannot be written: {error.message}"
        raise CassetteUnusable(told, fix=error.fix, path=str(path)) from error
    except OSError as error:
        raise CassetteUnusable(
            f"The cassette {path} cannot be written: {error.strerror or error}",
            fix="Name a file in a folder you may write to.",
            path=str(path),
        ) from error


def load_cassette(path: Path, below: Sequence[Path] = ()) -> Cassette:
    """Read a file; a line that is no recording is an error that names it."""
    try:
        data = read_plain(path, most_bytes=MOST_BYTES, below=below)
    except FileNotFoundError as error:
        raise NotFound(
            f"There is no cassette {path}",
            fix="Record one first: `--model record:FILE.jsonl:MODEL`.",
            path=str(path),
        ) from error
    # Only a line feed ends a line: JSON text may hold what `splitlines` takes for one.
    whole = data[: data.rfind(b"\n") + 1].decode("utf-8", "replace").split("\n")[:-1]
    lines = enumerate(whole, start=1)
    return Cassette(path, [_recording(path, number, text) for number, text in lines if text])


def _refuse_others(file: BinaryIO, path: Path) -> None:
    """Raise unless a file is empty or begins as a cassette: nothing else is ever written to."""
    file.seek(0)
    found = file.read(len(_BEGINNING))
    # A crash may have left less than the beginning of the first line.
    if not _BEGINNING.startswith(found) and found != _BEGINNING:
        raise CassetteUnusable(
            f"{path} is no cassette and is left as it is",
            fix="Name a new file, or one that was recorded by Callboard.",
            path=str(path),
        )


def _end_of_whole_lines(file: BinaryIO) -> int:
    """Return where the last whole line ends, looking backwards from the end."""
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - _BLOCK_BYTES)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


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


_KINDS: Final = {
    kind.code: kind
    for kind in (
        errors.InvalidReply,
        errors.PromptTooLong,
        errors.ProviderTimeout,
        errors.ScriptExhausted,
    )
}
_NEVER_ASKED: Final = (errors.UnknownModel, errors.MissingKey, errors.WeightsUnusable)
"""Failures on this side: no model was asked, so there is nothing to play again."""


def is_recordable(error: Exception) -> bool:
    """Say whether a failure is the provider's word, and not something missing here."""
    is_ours = isinstance(error, CallboardError)
    return not isinstance(error, _NEVER_ASKED) and (
        not is_ours or isinstance(error, ProviderError | errors.SchemaRefused)
    )


def error_shape(
    error: Exception, model: str, classifier: Classifier, scrub: Callable[[str], str]
) -> dict[str, Json]:
    """Return a failure as it is recorded."""
    known = error
    if not isinstance(known, CallboardError):
        known = as_provider_error(error, model=model, partial="", classifier=classifier)
    headers: Mapping[str, str] = getattr(known, "headers", {})
    return {
        "code": known.code,
        "message": scrub(known.message),
        "tier": classifier.tier_of(known).name.lower(),
        "status": status_of(known),
        "headers": {name: scrub(value) for name, value in headers.items()},
        "fix": None if known.fix is None else scrub(known.fix),
    }


def error_of(shape: Mapping[str, Any]) -> CallboardError:
    """Return a recorded failure, to be raised again."""
    if shape["code"] == errors.SchemaRefused.code:
        return errors.SchemaRefused(shape["message"], fix=shape["fix"])
    kind = _KINDS.get(shape["code"], ProviderError)
    return kind(
        shape["message"],
        status=shape["status"],
        headers=dict(shape["headers"]),
        tier=ErrorTier[shape["tier"].upper()],
        fix=shape["fix"],
    )
