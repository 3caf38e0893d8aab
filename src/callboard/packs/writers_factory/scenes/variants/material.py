"""Material: everything a scene is written from, read once per run and kept in its journal."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from callboard.choreography.stage import Stage
from callboard.core.codec import Coded
from callboard.core.vocabulary import Content, ModelTier, Trust
from callboard.packs.writers_factory.bible import beat_point
from callboard.packs.writers_factory.prose import PatternSheet, read_sheet
from callboard.packs.writers_factory.scenes.asking import listed, said, shown, tier_on
from callboard.packs.writers_factory.scenes.drafts import ScaffoldNotApproved, VoiceUnlocked
from callboard.packs.writers_factory.scenes.rooms import SceneRooms, subgraph_lines
from callboard.packs.writers_factory.scenes.scaffolds import SmartScaffold
from callboard.packs.writers_factory.scenes.variants.inspection import Standard, last_words
from callboard.packs.writers_factory.voice import Voice, VoiceBundle, strategy_block

PREVIOUS_WORDS: Final = 300
_CONTEXT_LINES: Final = {ModelTier.FULL: 80, ModelTier.MEDIUM: 30, ModelTier.MINIMAL: 8}


@dataclass(frozen=True, slots=True)
class SceneMaterial(Coded):
    """What the prompt of a scene is made of."""

    scaffold: Mapping[str, Any]
    word_target: int
    is_voice_locked: bool
    voice_summary: str = ""
    gold_excerpt: str = ""
    antipatterns: str = ""
    sheet_text: str = ""
    evolution: str = ""
    pov: str = ""
    tense: str = ""
    winner: str = ""
    context: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    preferences: tuple[str, ...] = ()
    previous: str = ""
    chapter: int = 1

    @property
    def brief(self) -> SmartScaffold:
        """The scaffold as it was approved."""
        return SmartScaffold.from_json(self.scaffold)


def gather(
    rooms: SceneRooms,
    scaffold_id: str,
    word_target: int | None,
    may_write_unlocked: Callable[[], bool],
) -> SceneMaterial:
    """Read everything a scene is written from, or say what stands in the way."""
    scaffold = rooms.desk.require_scaffold(scaffold_id)
    if not scaffold.is_approved:
        raise ScaffoldNotApproved(
            f"The scaffold {scaffold_id} waits for the writer's approval",
            fix="Approve it, changed or not, and write then.",
            scaffold_id=scaffold_id,
        )
    voice = Voice(rooms.workspace)
    status = voice.status()
    if not status.locked and not may_write_unlocked():
        raise VoiceUnlocked(
            "The voice of the book is not locked",
            fix="Finish the tournament and lock the voice, or pass the gate with an override.",
        )
    meta = rooms.meta_of(scaffold)
    around = rooms.memory.scene_subgraph(meta)
    previous = rooms.manuscript.previous(scaffold_id)
    before = rooms.manuscript.text(previous.scene_id) if previous else ""
    base = SceneMaterial(
        scaffold=scaffold.to_json(),
        word_target=word_target or scaffold.word_target,
        is_voice_locked=status.locked,
        winner=status.winning_agent,
        context=subgraph_lines(around.nodes, around.edges, _CONTEXT_LINES[ModelTier.FULL]),
        corrections=rooms.corrections(),
        preferences=rooms.preferences(),
        previous=last_words(before, PREVIOUS_WORDS),
        chapter=meta.chapter,
    )
    return _voiced(base, scaffold, voice.bundle())


def _voiced(
    base: SceneMaterial, scaffold: SmartScaffold, bundle: VoiceBundle | None
) -> SceneMaterial:
    """Return a material with the voice, as it stands in the act the scene belongs to."""
    if bundle is None:
        return base
    point = beat_point(scaffold.beat_number)
    act = point.act if point else "1"
    phase = bundle.phase(act)
    told = {
        "state": bundle.voice_state(act, scaffold.emotional_note),
        "rhythm": phase.sentence_rhythm,
        "images from": ", ".join(phase.metaphor_domains),
        "what the narrator can admit": phase.can_admit,
    }
    return replace(
        base,
        voice_summary=bundle.summary,
        gold_excerpt=bundle.gold_excerpt,
        antipatterns=bundle.antipattern_excerpt,
        sheet_text=bundle.sheet_text,
        evolution="\n".join(f"{name}: {text}" for name, text in told.items() if text),
        pov=bundle.pov,
        tense=bundle.tense,
        winner=bundle.winning_agent or base.winner,
    )


def prompt_inputs(
    stage: Stage, material: SceneMaterial, strategy: str, model: str, apart: str = ""
) -> dict[str, Any]:
    """Return what fills the scene prompt; two strategies differ in the strategy block alone."""
    tier = tier_on(stage, model)
    scaffold = material.brief
    lines = scaffold.lines(essential=tier is not ModelTier.FULL)
    return {
        "voice_summary": shown("voice", material.voice_summary),
        "gold_excerpt": shown("voice", material.gold_excerpt),
        "antipatterns": shown("voice", material.antipatterns),
        "evolution": shown("voice", material.evolution),
        "scaffold": listed("scaffold", lines),
        "context": listed("graph", material.context[: _CONTEXT_LINES[tier]]),
        "corrections": listed("memory", material.corrections),
        "preferences": listed("memory", material.preferences),
        "previous": shown("manuscript", material.previous),
        "strategy": strategy_block(stage.studio, strategy, tier),
        "word_target": said(str(material.word_target)),
        "scene_id": said(scaffold.scaffold_id),
        "apart": Content(apart, "pack", Trust.TRUSTED),
    }


def standard_of(rooms: SceneRooms, material: SceneMaterial) -> Standard:
    """Return what drafts made of a material are held against."""
    analysis = rooms.workspace.settings.analysis
    patterns: PatternSheet | None = read_sheet(material.sheet_text) if material.sheet_text else None
    return Standard(
        word_target=material.word_target,
        tolerance=analysis.length_tolerance,
        retry=analysis.length_retry,
        patterns=patterns,
        pov=material.pov,
        tense=material.tense,
        callbacks=material.brief.callbacks,
        corrections=material.corrections,
        chapter=material.chapter,
    )
