"""The parts of the state that are about prose: the voice, its bundle, the scene, the scaffold."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from callboard.core.canonical import Json, compact_json
from callboard.packs.writers_factory.foreman.state.session import (
    GRAPH,
    ZERO_TOLERANCE,
    ForemanState,
    SceneLine,
    VoiceLine,
)
from callboard.packs.writers_factory.foreman.state.sizes import Bundle, Clipper, Scaffold, Sizes
from callboard.packs.writers_factory.memory.scenery import KnowledgeLine

# What an entry costs beside its value: its tags, its category and its key.
_FRAME_TOKENS = 16


def choose_entries(
    entries: Sequence[KnowledgeLine], sizes: Sizes, clipper: Clipper
) -> tuple[KnowledgeLine, ...]:
    """Return the entries to show, cut to size, within the tokens there are."""
    chosen: list[KnowledgeLine] = []
    left = sizes.entries_tokens
    for entry in _in_order(entries, sizes):
        value = clipper.clip(entry.value, sizes.value_tokens)
        cost = clipper.cost(value) + clipper.cost(entry.key[:200]) + _FRAME_TOKENS
        # The first is always there: without it the state would claim that nothing is known.
        if chosen and cost > left:
            break
        left -= cost
        chosen.append(replace(entry, value=value))
    return tuple(chosen)


def _in_order(entries: Sequence[KnowledgeLine], sizes: Sizes) -> Iterator[KnowledgeLine]:
    decisions = [each for each in entries if each.origin != GRAPH]
    foundational = [each for each in decisions if each.is_foundational]
    others = [each for each in decisions if not each.is_foundational]
    if not sizes.all_foundational and sizes.entries:
        foundational = foundational[: sizes.entries]
    yield from foundational
    # Never below zero: more foundational entries than slots must not open the gates.
    yield from others[: max(0, sizes.entries - len(foundational))]
    known = {each.key for each in decisions}
    facts = [each for each in entries if each.origin == GRAPH and each.key not in known]
    yield from facts[: sizes.graph_facts]


_GOLD_CHARS: Final = 2000
_ANTIPATTERN_CHARS: Final = 1500
_GOLD_TOKENS: Final = 700
_ANTIPATTERN_TOKENS: Final = 500
_SUMMARY_TOKENS: Final = 110
_LINE_TOKENS: Final = 50
_MOST_ITEMS: Final = 6

_CORE: Final = ("scaffold_id", "beat_alignment", "scene_goal", "protagonist_constraint")
_ESSENTIAL: Final = (
    "scaffold_id",
    "beat_alignment",
    "pov_character",
    "characters_present",
    "location",
    "callbacks",
    "foreshadowing",
    "protagonist_constraint",
    "scene_goal",
    "word_target",
)
_ALL: Final = (
    "scaffold_id",
    "title",
    *_ESSENTIAL[1:],
    "beat_number",
    "time_of_day",
    "weather",
    "world_rules",
    "flaw_challenge",
    "conflict",
    "outcome",
    "emotional_note",
    "health_notes",
)
_SHOWN: Final = {Scaffold.ALL: _ALL, Scaffold.ESSENTIAL: _ESSENTIAL, Scaffold.CORE: _CORE}


def voice_tree(voice: VoiceLine, sizes: Sizes, clipper: Clipper) -> dict[str, Any]:
    """Return how far the voice is."""

    def clip(text: str) -> str | None:
        return clipper.clip(text, sizes.value_tokens) or None

    return {
        "locked": voice.locked,
        "winning_agent": clip(voice.winning_agent),
        "winning_strategy": clip(voice.winning_strategy),
        "voice_state": clip(voice.voice_state),
        "steps_done": clip(", ".join(voice.steps)),
        "note": [clip(note) for note in voice.notes[:3]],
        "antipatterns": _patterns(voice, sizes, clipper) or None,
    }


def bundle_tree(state: ForemanState, sizes: Sizes, clipper: Clipper) -> dict[str, Any]:
    """Return the voice bundle: its excerpts, its summary, or one line and what is forbidden."""
    bundle = state.bundle
    if bundle is None:
        return {}
    if sizes.bundle is Bundle.LINE:
        return {
            "@loaded": True,
            "voice_summary": clipper.clip(bundle.one_line, _LINE_TOKENS) or None,
            **(_patterns(state.voice, sizes, clipper) if sizes.is_bare else {}),
        }
    tree: dict[str, Any] = {
        "@loaded": True,
        "voice_summary": clipper.clip(bundle.voice_summary, _SUMMARY_TOKENS) or None,
    }
    if sizes.bundle is Bundle.EXCERPTS:
        named = ("winning_passage_file", "antipattern_file", "evolution_file")
        for name in named:
            tree[name] = clipper.clip(getattr(bundle, name), sizes.value_tokens) or None
        gold = clipper.excerpt(bundle.gold_excerpt, _GOLD_CHARS, _GOLD_TOKENS)
        avoid = clipper.excerpt(bundle.antipattern_excerpt, _ANTIPATTERN_CHARS, _ANTIPATTERN_TOKENS)
        tree |= {"gold_standard": gold or None, "antipattern_sheet": avoid or None}
    return tree


def scene_tree(scene: SceneLine, sizes: Sizes, clipper: Clipper) -> dict[str, Any]:
    """Return the scene that is worked on."""

    def clip(text: str) -> str | None:
        return clipper.clip(text, sizes.value_tokens) or None

    return {
        "scaffold_id": clip(scene.scaffold_id),
        "beat_alignment": clip(scene.beat_alignment),
        "pov_character": clip(scene.pov_character),
        "word_target": scene.word_target,
        "callback": [clip(each) for each in scene.callbacks[:_MOST_ITEMS]],
        "foreshadow": [clip(each) for each in scene.foreshadowing[:_MOST_ITEMS]],
    }


def scaffold_tree(scaffold: Mapping[str, Json], sizes: Sizes, clipper: Clipper) -> dict[str, Any]:
    """Return the fields of a scaffold that a tier is shown."""
    tree: dict[str, Any] = {}
    for name in _SHOWN[sizes.scaffold]:
        value = scaffold.get(name)
        if value in (None, "", [], {}):
            continue
        if isinstance(value, list):
            items = cast("list[Json]", value)[:_MOST_ITEMS]
            tree[name] = {"item": [_text(each, sizes, clipper) for each in items]}
        else:
            tree[name] = _text(value, sizes, clipper)
    return tree


def _text(value: Json, sizes: Sizes, clipper: Clipper) -> str:
    text = value if isinstance(value, str) else compact_json(value)
    return clipper.clip(text, sizes.value_tokens)


def _patterns(voice: VoiceLine, sizes: Sizes, clipper: Clipper) -> dict[str, Any]:
    worst_first = sorted(voice.patterns, key=lambda each: each.severity != ZERO_TOLERANCE)
    if sizes.is_bare:
        worst_first = [each for each in worst_first if each.severity == ZERO_TOLERANCE]
    rows = [
        {
            "@severity": clipper.clip(each.severity, sizes.value_tokens),
            "#text": clipper.clip(each.pattern, sizes.value_tokens),
        }
        for each in worst_first[: sizes.patterns]
    ]
    return {"pattern": rows} if rows else {}
