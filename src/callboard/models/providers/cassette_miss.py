"""What to say of a request that a cassette does not hold: what is nearest, and how it differs."""

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any, Final

from callboard.core.canonical import compact_json
from callboard.core.errors import ProviderError
from callboard.models.providers.cassette_file import Cassette, Recording

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
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
