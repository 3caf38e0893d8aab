"""Folding: how new artifacts change what Cold holds, kind by kind. Pure: one body in, one out.

Canon is never overwritten in silence: a fact with another value, or events in another order, stand
beside the old ones until the report of the same unit says that the new one is right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from callboard.packs.questfoundry.canon.statements import events_of, facts_of, told
from callboard.packs.questfoundry.canon.timeline import Timeline

# The fields of a kind that are lists, and what tells their rows apart. A kind with no fields is
# replaced as a whole.
FOLDED: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "topology_notes": {},
    "style_guide": {},
    "section_briefs": {"briefs": ("section_id",)},
    "scene_drafts": {"sections": ("section_id",)},
    "canon_pack": {
        "answers": ("question_id",),
        "timeline": ("id",),
        "entities": ("name", "attribute"),
        "constraints": ("statement",),
        "knowledge": ("actor", "knows"),
        "mysteries": ("topic",),
        "spoiler_terms": (),
    },
    "player_safe_summaries": {"summaries": ("topic",)},
    "codex_entries": {"entries": ("slug",)},
    "art_plans": {"plans": ("id",)},
    "visual_descriptions": {"items": ("plan_id",)},
    "art_assets": {"assets": ("plan_id",)},
    "determinism_log": {"runs": ("plan_id",)},
    "audio_plans": {"cues": ("cue_id",)},
    "captions": {"items": ("cue_id",)},
    "audio_assets": {"assets": ("cue_id",)},
    "repro_notes": {"runs": ("plan_id",)},
    "glossary": {"terms": ("source",)},
    "register_map": {},
    "localized_surfaces": {"segments": ("id",)},
    "language_pack": {},
}
# What becomes part of another kind.
INTO: Final = {"revised_prose": "scene_drafts", "style_addendum": "style_guide"}
PER_LOCALE: Final = frozenset({"glossary", "register_map", "localized_surfaces", "language_pack"})
# Texts and lists of an addendum that go over those of the guide, and those that are added to it.
_STYLE_TEXTS: Final = ("register", "voice", "tense", "caption_rule")
_STYLE_LISTS: Final = ("banned", "preferred", "motifs")


@dataclass(frozen=True, slots=True)
class ColdPart:
    """One artifact on its way into Cold."""

    kind: str
    body: Mapping[str, Any]


def locale_of(parts: Sequence[ColdPart]) -> str:
    """Return the language that translated artifacts of one unit are in."""
    for part in parts:
        if part.kind in ("language_pack", "coverage_plan"):
            return str(part.body["locale"])
    return ""


def fold(
    held: Mapping[str, Mapping[str, Any]], parts: Sequence[ColdPart]
) -> dict[str, dict[str, Any]]:
    """Return what is held after some artifacts of one unit, by path."""
    folded = {path: dict(body) for path, body in held.items()}
    locale = locale_of(parts)
    settled = _reconciled(parts)
    for part in parts:
        kind = INTO.get(part.kind, part.kind)
        if kind not in FOLDED:
            continue
        path = f"{kind}/{locale}" if kind in PER_LOCALE and locale else kind
        before = folded.get(path)
        if part.kind == "style_addendum":
            folded[path] = _styled(before or {}, part.body)
        elif before is None or not FOLDED[kind]:
            folded[path] = dict(part.body)
        else:
            folded[path] = _merged(before, part.body, FOLDED[kind])
            if kind == "canon_pack":
                folded[path] |= _canon(before, part.body, settled)
    return folded


def _reconciled(parts: Sequence[ColdPart]) -> frozenset[frozenset[str]]:
    return frozenset(
        frozenset((str(row["a"]), str(row["b"])))
        for part in parts
        if part.kind == "contradiction_report"
        for row in part.body.get("clashes", ())
        if row.get("resolution") == "reconciled"
    )


def _canon(
    before: Mapping[str, Any], after: Mapping[str, Any], settled: frozenset[frozenset[str]]
) -> dict[str, Any]:
    """Return facts and events of both; of what was reconciled, the old side leaves."""
    new = list(after.get("entities", ()))
    standing = {told(each) for each in facts_of(new)}
    gone = {text for pair in settled if pair & standing for text in pair - standing}
    old = before.get("entities", ())
    kept = [row for row, each in zip(old, facts_of(old), strict=True) if told(each) not in gone]
    rows = {_fact_key(row): row for row in (*kept, *new)}
    return {
        "entities": list(rows.values()),
        "timeline": _chains(before.get("timeline", ()), after.get("timeline", ()), settled),
    }


def _fact_key(row: Mapping[str, Any]) -> tuple[str, ...]:
    fields = ("name", "attribute", "since", "value")
    return tuple(str(row.get(name) or "").casefold() for name in fields)


def _chains(
    before: Sequence[Mapping[str, Any]],
    after: Sequence[Mapping[str, Any]],
    settled: frozenset[frozenset[str]],
) -> list[Mapping[str, Any]]:
    """Put a chain of events beside those that are there; one that it repeats whole leaves."""
    if not after:
        return list(before)
    number = 1 + max((int(row.get("chain") or 0) for row in before), default=-1)
    new = [{**row, "chain": number} for row in after]
    old = list(before)
    while (line := Timeline(events_of((*old, *new)))).circle:
        if not any(frozenset(pair) in settled for pair in line.ways_round()):
            return [*old, *new]
        left = [row for row in old if str(row["id"]) not in line.circle]
        if len(left) == len(old):
            return [*old, *new]
        old = left
    ids = {str(row["id"]) for row in after}
    told_else = {int(row.get("chain") or 0) for row in old if str(row["id"]) not in ids}
    return [*(row for row in old if int(row.get("chain") or 0) in told_else), *new]


def _merged(
    before: Mapping[str, Any], after: Mapping[str, Any], fields: Mapping[str, tuple[str, ...]]
) -> dict[str, Any]:
    merged = {**before, **after}
    for name, keys in fields.items():
        rows: dict[Any, Any] = {}
        for row in (*before.get(name, ()), *after.get(name, ())):
            # The place of a row that is there already stays its place.
            rows[tuple(row[key] for key in keys) if keys else row] = row
        merged[name] = list(rows.values())
    return merged


def _styled(guide: Mapping[str, Any], addendum: Mapping[str, Any]) -> dict[str, Any]:
    styled = dict(guide)
    styled |= {name: addendum[name] for name in _STYLE_TEXTS if addendum.get(name)}
    for name in _STYLE_LISTS:
        both = (*guide.get(name, ()), *addendum.get(name, ()))
        styled[name] = list(dict.fromkeys(both))
    rules = (*guide.get("addenda", ()), *addendum.get("rules", ()))
    styled["addenda"] = list(dict.fromkeys(rules))
    return styled
