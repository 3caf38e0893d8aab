"""Parts of a hybrid: which paragraphs of which variants, put together by code."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.packs.writers_factory.scenes.errors import HybridInvalid
from callboard.packs.writers_factory.scenes.variant import (
    SceneVariant,
    joined,
    paragraphs_of,
)

_RANGE: Final = re.compile(r"(\d{1,4})(?:\s*(?:-|–|to|\.\.)\s*(\d{1,4}|end)?)?", re.IGNORECASE)
_FIT: Final = 0.5


@dataclass(frozen=True, slots=True)
class HybridPart:
    """Some paragraphs of a variant, counted from 1; without an end, all from there on."""

    variant_id: str
    first: int = 1
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Mosaic:
    """A text put together, and of each paragraph where it comes from: `ch4-sc2:BALANCED#3`."""

    text: str
    provenance: tuple[str, ...]


def read_parts(given: Sequence[Any]) -> tuple[HybridPart, ...]:
    """Read parts as a door gives them: `{variant, paragraphs: "2-4"}`."""
    return tuple(_read_part(each) for each in given)


def _read_part(given: Any) -> HybridPart:
    if isinstance(given, str):
        variant, _, said = given.partition("#")
        return _ranged(variant.strip(), said.strip() or "1-", given)
    values = cast("Mapping[str, Any]", given if isinstance(given, Mapping) else {})
    variant = str(values.get("variant") or values.get("variant_id") or "").strip()
    return _ranged(variant, str(values.get("paragraphs") or "1-").strip(), given)


def _ranged(variant: str, said: str, given: Any) -> HybridPart:
    found = _RANGE.fullmatch(said)
    if found is None or not variant:
        raise HybridInvalid(
            f"{given!r} names no part of a variant",
            fix='Name each part as {"variant": id, "paragraphs": "2-4"}.',
        )
    first = int(found[1])
    is_single = found[0].strip().isdigit()
    end = found[2]
    last = first if is_single else (None if end is None or end.lower() == "end" else int(end))
    if first < 1 or (last is not None and last < first):
        raise HybridInvalid(
            f"The paragraphs {said!r} of {variant} are no range", fix="Count from 1, upwards."
        )
    return HybridPart(variant, first, last)


def assemble(parts: Sequence[HybridPart], variants: Mapping[str, SceneVariant]) -> Mosaic:
    """Put parts together word for word."""
    taken: list[str] = []
    origins: list[str] = []
    for part in parts:
        variant = variants.get(part.variant_id)
        if variant is None or not variant.is_usable:
            raise HybridInvalid(
                f"There is no variant {part.variant_id!r} to take a part from",
                fix=f"Variants: {', '.join(variants) or 'none'}.",
            )
        paragraphs = paragraphs_of(variant.text)
        last = len(paragraphs) if part.last is None else part.last
        if last > len(paragraphs):
            raise HybridInvalid(
                f"{part.variant_id} has {len(paragraphs)} paragraphs, not {last}",
                fix="Look at the variant and name paragraphs it has.",
            )
        for number in range(part.first, last + 1):
            taken.append(paragraphs[number - 1])
            origins.append(f"{part.variant_id}#{number}")
    if not taken:
        raise HybridInvalid("No part of any variant was named", fix="Name at least one part.")
    return Mosaic(joined(tuple(taken)), tuple(origins))


def trace(text: str, variants: Mapping[str, SceneVariant]) -> tuple[str, ...]:
    """Return of each paragraph of a merged text where it comes from.

    A paragraph taken over unchanged names its origin; one that was reworked names the paragraph it
    has most words of with a `~`; one nobody wrote before is `new`.
    """
    return tuple(_origin(paragraph, variants) for paragraph in paragraphs_of(text))


def _origin(paragraph: str, variants: Mapping[str, SceneVariant]) -> str:
    from rapidfuzz.fuzz import token_set_ratio

    best, score = "new", _FIT * 100
    for variant in variants.values():
        for number, other in enumerate(paragraphs_of(variant.text), start=1):
            if other == paragraph:
                return f"{variant.id}#{number}"
            likeness = float(token_set_ratio(paragraph, other))
            if likeness > score:
                best, score = f"~{variant.id}#{number}", likeness
    return best
