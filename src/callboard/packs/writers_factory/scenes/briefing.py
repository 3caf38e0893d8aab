"""Briefing: a scaffold is derived, worded by a model, checked, repaired once, and kept."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, cast

from callboard.choreography.answers import Answer
from callboard.choreography.questions import Question
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.packs.writers_factory.memory import Ingestor
from callboard.packs.writers_factory.memory.notebooks import Notebooks
from callboard.packs.writers_factory.model import FOREMAN, scene_id
from callboard.packs.writers_factory.operations import keep_in_run
from callboard.packs.writers_factory.scenes.asking import (
    ask_or_go_on,
    listed,
    said,
    shown,
)
from callboard.packs.writers_factory.scenes.rooms import SceneRooms, SceneWish
from callboard.packs.writers_factory.scenes.scaffolds import (
    FREE_FIELDS,
    SmartScaffold,
    StoryView,
    derive,
    mended,
    read_enrichment,
    scaffold_faults,
    with_threads,
)
from callboard.packs.writers_factory.scenes.scaffolds.derivation import NOTEBOOK
from callboard.packs.writers_factory.workspace import Workspace, is_small, model_of, route_of

_PASSAGES: Final = 3
_PASSAGE_CHARS: Final = 600


async def look_up(
    stage: Stage, sources: tuple[str, ...], question: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return passages of the named notebooks, and a warning for each that cannot be asked."""
    wanted = [source for source in sources if source.startswith(NOTEBOOK)]
    if not wanted:
        return (), ()

    async def ask() -> Json:
        notebooks = Notebooks(Workspace(stage.studio))
        found: list[str] = []
        warnings: list[str] = []
        for source in wanted:
            try:
                passages = await notebooks.query(
                    source.removeprefix(NOTEBOOK), question, k=_PASSAGES
                )
            except CallboardError as error:
                warnings.append(f"{source} was not asked: {error.message}")
                continue
            found += [f"{source}: {' '.join(each.text.split())}" for each in passages]
        return {"found": [each[:_PASSAGE_CHARS] for each in found], "warnings": warnings}

    told = cast("dict[str, Any]", await stage.step("research", ask))
    return tuple(told["found"]), tuple(told["warnings"])


_PICK: Final = "scene_scaffold_pick"
_TEXT_CHARS: Final = 600
_TIMES: Final = ["before dawn", "morning", "noon", "late afternoon", "dusk", "night"]
_WEATHERS: Final = ["rain", "wind", "fog", "clear sky", "heat", "snow", "low cloud"]
_NOTES: Final = ["uneasy", "determined", "afraid", "tender", "angry", "numb", "hopeful"]


class BriefWording(Answer):
    """How a model words the open fields of a scaffold."""

    characters_present: tuple[str, ...]
    pov_character: str
    location: str
    time_of_day: str
    weather: str
    protagonist_constraint: str
    scene_goal: str
    conflict: str
    outcome: str
    emotional_note: str


_WORDING: Final = Question("scene_scaffold", BriefWording)


async def brief_scene(
    stage: Stage, wish: SceneWish, enrichment: Sequence[str] = ()
) -> SmartScaffold:
    """Make the scaffold of a scene and show it to the writer, who approves it or not."""
    rooms = SceneRooms(Workspace(stage.studio))
    # The graph knows the Story Bible as it stands now: nobody has to have consolidated before.
    await keep_in_run(stage, "story_bible", "facts of the Story Bible", lambda: _ingest(rooms))
    sources, warnings = read_enrichment(enrichment)
    planned = rooms.manuscript.planned(scene_id(wish.chapter, wish.scene))
    question = " ".join(filter(None, (wish.title, planned.summary if planned else "")))
    research, unasked = await look_up(stage, sources, question)
    asked = replace(wish, research=research)
    stored = await stage.step("story", lambda: rooms.view(asked).to_json())
    view = StoryView.from_json(cast("dict[str, Any]", stored))
    safe = replace(derive(view, sources), warnings=(*warnings, *unasked))
    is_picked = is_small(rooms.workspace, model_of(rooms.workspace, FOREMAN))
    worded = await (_picked if is_picked else _worded)(stage, view, safe, sources)
    return await _kept(stage, rooms, worded)


async def _ingest(rooms: SceneRooms) -> Json:
    report = await Ingestor(rooms.workspace, rooms.bible).ingest()
    return {"nodes_added": report.nodes_added, "nodes_updated": report.nodes_updated}


async def _worded(
    stage: Stage, view: StoryView, safe: SmartScaffold, sources: Sequence[str]
) -> SmartScaffold:
    """Let a model word the open fields; what it gets wrong it may put right once."""
    faults = ()
    scaffold = safe
    for attempt in ("word", "repair"):
        told = [f"{name}: {fault}" for name, fault in faults]
        found = await ask_or_go_on(
            stage,
            attempt,
            FOREMAN,
            _WORDING,
            scaffold=listed("scaffold", safe.lines()),
            people=listed("graph", [each.name for each in view.people if each.is_alive]),
            rules=listed("bible", view.rules),
            corrections=listed("memory", view.corrections),
            research=listed("notebook", view.research),
            faults=listed("checks", ["Put this right:", *told]) if told else said(""),
        )
        if found is None:
            return replace(
                safe, warnings=(*safe.warnings, "The model gave no scaffold; the plan's stands.")
            )
        scaffold = with_threads(_filled(safe, view, found), view, sources)
        faults = scaffold_faults(scaffold, view)
        if not faults:
            return scaffold
    return mended(scaffold, safe, faults)


def _filled(safe: SmartScaffold, view: StoryView, found: BriefWording) -> SmartScaffold:
    """Return a scaffold with a model's words; names become those of the graph."""
    words = {
        name: text
        for name in FREE_FIELDS
        if (text := _line(getattr(found, name))) and text != "(none)"
    }
    named = (_name(view, each) for each in found.characters_present if _line(each))
    pov = _line(found.pov_character)
    return replace(
        safe,
        **words,
        characters_present=tuple(dict.fromkeys(named)) or safe.characters_present,
        pov_character=_name(view, pov) if pov else safe.pov_character,
    )


def _name(view: StoryView, told: str) -> str:
    name = _line(told)
    person = view.person(name)
    return person.name if person is not None else name


def _line(text: str) -> str:
    return " ".join(text.split())[:_TEXT_CHARS]


async def _picked(
    stage: Stage, view: StoryView, safe: SmartScaffold, _sources: Sequence[str]
) -> SmartScaffold:
    """Let a small model choose where there is a choice; the rest is the plan's."""
    choices = {
        "location": ("Where does it happen?", list(dict.fromkeys(view.locations))[:8]),
        "time_of_day": ("What time of day is it?", _TIMES),
        "weather": ("What is the weather like?", _WEATHERS),
        "emotional_note": ("How does the scene feel?", _NOTES),
    }
    picked: dict[str, Any] = {}
    for name, (question, options) in choices.items():
        if len(options) > 1:
            picked[name] = await stage.choose(
                f"pick/{name}",
                FOREMAN,
                options,
                prompt=_PICK,
                model=route_of(Workspace(stage.studio), FOREMAN),
                scaffold=shown("scaffold", f"{safe.title}. {safe.scene_goal}"),
                question=said(question),
            )
    scaffold = replace(safe, **picked)
    faults = scaffold_faults(scaffold, view)
    return mended(scaffold, safe, faults) if faults else scaffold


async def _kept(stage: Stage, rooms: SceneRooms, scaffold: SmartScaffold) -> SmartScaffold:
    async def keep() -> Json:
        await rooms.manuscript.open_scene(
            scaffold.scaffold_id, scaffold.title, scaffold.beat_number
        )
        return (await rooms.desk.put_scaffold(scaffold)).to_json()

    stored = await keep_in_run(stage, "kept", "scaffold", keep, of=scaffold.scaffold_id)
    return SmartScaffold.from_json(cast("dict[str, Any]", stored))
