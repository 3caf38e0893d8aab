"""Hybrids: parts of variants become one draft, by code where the writer wishes nothing more."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.packs.writers_factory.model import WRITER
from callboard.packs.writers_factory.operations import keep_in_run
from callboard.packs.writers_factory.scenes.asking import (
    listed,
    said,
    shown,
)
from callboard.packs.writers_factory.scenes.drafts import (
    HYBRID,
    DraftFlag,
    HybridInvalid,
    SceneVariant,
    joined,
    paragraphs_of,
)
from callboard.packs.writers_factory.scenes.rooms import SceneRooms
from callboard.packs.writers_factory.scenes.variants.drafting import (
    DraftOrder,
    finished,
    without_forbidden,
)
from callboard.packs.writers_factory.scenes.variants.inspection import prose_of
from callboard.packs.writers_factory.scenes.variants.material import (
    SceneMaterial,
    gather,
    standard_of,
)
from callboard.packs.writers_factory.workspace import Workspace, is_small, model_of

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


_PROMPT: Final = "scene_hybrid"
_BETWEEN: Final = re.compile(r"[;,\n]")


@dataclass(frozen=True, slots=True)
class HybridOrder:
    """Which parts of which variants, and what else the writer wants."""

    scene_id: str
    parts: tuple[HybridPart, ...] = ()
    wishes: str = ""


def read_hybrid(scene_id: str, parts: Json, wishes: str = "") -> HybridOrder:
    """Read what a door or an agent asks for; words that name no part are a wish."""
    if isinstance(parts, str):
        pieces = [each.strip() for each in _BETWEEN.split(parts) if each.strip()]
        if not all("#" in each for each in pieces):
            return HybridOrder(scene_id, (), f"{parts.strip()}\n{wishes}".strip())
        return HybridOrder(scene_id, read_parts(pieces), wishes.strip())
    given = cast("Sequence[Any]", parts if isinstance(parts, list | tuple) else ())
    order = HybridOrder(scene_id, read_parts(given), wishes.strip())
    if not order.parts and not order.wishes:
        raise HybridInvalid(
            f"A hybrid of {scene_id} needs parts or a wish",
            fix='Name parts as {"variant": id, "paragraphs": "2-4"}, or say what you want.',
        )
    return order


async def make_hybrid(stage: Stage, order: HybridOrder) -> SceneVariant:
    """Make a hybrid and keep it among the scene's variants."""
    rooms = SceneRooms(Workspace(stage.studio))

    def read() -> Json:
        # The variants are there, so whoever may have written them may join them.
        material = gather(rooms, order.scene_id, None, lambda: True)
        named = [rooms.desk.variant(order.scene_id, each.variant_id).id for each in order.parts]
        return {
            "material": material.to_json(),
            "round": rooms.desk.next_round(order.scene_id),
            "variants": [
                each.to_json()
                for each in rooms.desk.variants(order.scene_id)
                if each.is_usable and (each.strategy != HYBRID or each.id in named)
            ],
            "named": named,
            "at": rooms.workspace.studio.clock.now_ms(),
        }

    given = cast("dict[str, Any]", await stage.step("material", read))
    material = SceneMaterial.from_json(given["material"])
    found = [SceneVariant.from_json(each) for each in given["variants"]]
    variants = {each.id: each for each in found}
    parts = [
        replace(part, variant_id=name)
        for part, name in zip(order.parts, given["named"], strict=True)
    ]
    mosaic = assemble(parts, variants) if parts else Mosaic("", ())
    model = model_of(rooms.workspace, WRITER, material.winner)
    draft = DraftOrder(
        f"{order.scene_id}:{HYBRID}:{given['round']}",
        HYBRID,
        model,
        material,
        standard_of(rooms, material),
    )
    hybrid = await _joined(stage, order, draft, mosaic, variants)
    return await _kept(stage, rooms, replace(hybrid, created_at=int(given["at"])))


async def _joined(
    stage: Stage,
    order: HybridOrder,
    draft: DraftOrder,
    mosaic: Mosaic,
    variants: Mapping[str, SceneVariant],
) -> SceneVariant:
    if not order.wishes:
        return replace(finished(draft, mosaic.text), provenance=mosaic.provenance)
    if is_small(Workspace(stage.studio), draft.model):
        return _without_model(draft, mosaic, variants)
    reply = await stage.ask(
        "merge",
        WRITER,
        prompt=_PROMPT,
        model=draft.model,
        wishes=stage.user(order.wishes),
        parts=shown("variants", mosaic.text),
        drafts=shown(
            "variants",
            "\n\n".join(f"[{each.id}]\n{each.text}" for each in variants.values()),
        ),
        voice_summary=shown("voice", draft.material.voice_summary),
        scaffold=listed("scaffold", draft.material.brief.lines(essential=True)),
        corrections=listed("memory", draft.material.corrections),
        word_target=said(str(draft.standard.word_target)),
        scene_id=said(order.scene_id),
    )
    text = await without_forbidden(stage, draft, prose_of(reply.raw))
    if not text:
        return _without_model(draft, mosaic, variants)
    return replace(finished(draft, text), provenance=trace(text, variants))


def _without_model(
    draft: DraftOrder, mosaic: Mosaic, variants: Mapping[str, SceneVariant]
) -> SceneVariant:
    """Return the parts that were named; without any, the first variant with the other's turn."""
    told = DraftFlag(
        "wish_unmet", "the model could not meet the wish; the parts stand as they were"
    )
    if not mosaic.text:
        mosaic = _halves(tuple(variants.values()))
    return replace(finished(draft, mosaic.text, (told,)), provenance=mosaic.provenance)


def _halves(variants: Sequence[SceneVariant]) -> Mosaic:
    if not variants:
        raise HybridInvalid("There is no variant to make a hybrid of", fix="Write the scene first.")
    first, last = variants[0], variants[-1]
    middle = max(1, len(paragraphs_of(first.text)) // 2)
    after = min(middle + 1, len(paragraphs_of(last.text)))
    parts = [HybridPart(first.id, 1, middle)]
    if last.id != first.id:
        parts.append(HybridPart(last.id, after))
    return assemble(parts, {each.id: each for each in variants})


async def _kept(stage: Stage, rooms: SceneRooms, hybrid: SceneVariant) -> SceneVariant:
    async def keep() -> Json:
        (kept,) = await rooms.desk.put_variants([hybrid])
        return kept.to_json()

    stored = await keep_in_run(stage, "kept", "hybrid", keep, of=hybrid.scene_id)
    return SceneVariant.from_json(cast("dict[str, Any]", stored))
