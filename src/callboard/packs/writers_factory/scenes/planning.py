"""Planning: the Foreman proposes the scenes of the book, code sees to it that none is missing."""

from collections.abc import Mapping
from typing import Any, Final, cast

from callboard.choreography.questions import Question
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.packs.writers_factory.manuscript import outline_from_json, outline_to_json
from callboard.packs.writers_factory.model import FOREMAN, PlannedScene
from callboard.packs.writers_factory.operations import keep_in_run
from callboard.packs.writers_factory.scenes.asking import (
    ask_or_go_on,
    listed,
    said,
    shown,
)
from callboard.packs.writers_factory.scenes.drafts import NoBeats
from callboard.packs.writers_factory.scenes.proposal import (
    PlannedSize,
    ProposedScenes,
    complete,
    outline_from_beats,
    read_size,
    retitled,
    short_title,
)
from callboard.packs.writers_factory.scenes.rooms import SceneRooms
from callboard.packs.writers_factory.settings import bundled_settings
from callboard.packs.writers_factory.workspace import Workspace, is_small, model_of, route_of

PROPOSAL_KIND: Final = "outline_proposal"
PROPOSAL: Final = "proposal"
_TITLE_WORDS: Final = (4, 5, 7)
_FEWEST_TITLE_WORDS: Final = 3
_MOST_TITLES: Final = 15
_NOT_CHOSEN: Final = (
    "How long the book is to be was not chosen: ask again with a number of scenes, words or "
    "chapters for another shape."
)
_SCENES: Final = Question("plan_scenes", ProposedScenes)


async def propose_outline(
    stage: Stage,
    scenes_wanted: int | None = None,
    words: int | None = None,
    chapters: int | None = None,
) -> Json:
    """Propose an outline and keep it until the writer approves it, changed or not."""
    rooms = SceneRooms(Workspace(stage.studio))
    given = cast("dict[str, Any]", await stage.step("beats", lambda: _given(rooms)))
    contents = {int(number): str(text) for number, text in given["contents"].items()}
    usual = PlannedSize(given["total_words"], given["scene_words"])
    size = read_size(usual, scenes_wanted, words, chapters)
    if is_small(rooms.workspace, model_of(rooms.workspace, FOREMAN)):
        scenes = await _with_titles(stage, outline_from_beats(contents, size))
        notes: tuple[str, ...] = ("The outline was made from the beat sheet by rule.",)
    else:
        scenes, notes = await _asked(stage, given, contents, size)
    if not size.is_chosen:
        notes = (*notes, _NOT_CHOSEN)
    body: dict[str, Json] = {"scenes": outline_to_json(scenes), "notes": list(notes)}

    async def keep() -> Json:
        await rooms.workspace.records.put(PROPOSAL_KIND, PROPOSAL, body)
        return len(scenes)

    await keep_in_run(stage, "kept", "proposed outline", keep)
    return body


def read_proposal(workspace: Workspace) -> tuple[tuple[PlannedScene, ...], tuple[str, ...]] | None:
    """Return the outline that waits for the writer, with what was put right in it."""
    stored = workspace.records.get(PROPOSAL_KIND, PROPOSAL)
    if stored is None:
        return None
    return outline_from_json(stored["scenes"]), tuple(stored["notes"])


def _given(rooms: SceneRooms) -> Json:
    beats = rooms.beats()
    if not any(beat.content for beat in beats):
        raise NoBeats(
            "There is no beat sheet to plan scenes from",
            fix="Write the beats first: the template beat_sheet of the Story Bible.",
        )
    settings, bundled = rooms.workspace.settings.project, bundled_settings().project
    # A length nobody set is not known.
    is_set = settings.planned_total_words != bundled.planned_total_words
    fields = {**rooms.bible.protagonist, **rooms.bible.theme}
    return {
        "contents": {str(beat.number): beat.content for beat in beats},
        "beats": [
            f"{each.number}. {each.alignment} ({each.place}): {each.content}" for each in beats
        ],
        "foundation": [f"{name.replace('_', ' ')}: {text}" for name, text in fields.items()],
        "previous": [f"{each.id} {each.title}" for each in rooms.manuscript.outline()],
        "total_words": settings.planned_total_words if is_set else None,
        "scene_words": settings.default_scene_words,
    }


async def _asked(
    stage: Stage, given: Mapping[str, Any], contents: Mapping[int, str], size: PlannedSize
) -> tuple[tuple[PlannedScene, ...], tuple[str, ...]]:
    found = await ask_or_go_on(
        stage,
        "propose",
        FOREMAN,
        _SCENES,
        size=said(_told(size)),
        foundation=listed("bible", given["foundation"]),
        beats=listed("bible", given["beats"]),
        previous=listed("outline", given["previous"]),
    )
    if found is None or not found.scenes:
        scenes = outline_from_beats(contents, size)
        return scenes, ("The model proposed no scenes; the outline was made from the beat sheet.",)
    return complete(found.scenes, contents, size)


def _told(size: PlannedSize) -> str:
    """Return in words how big the book is to be."""
    if not size.is_chosen:
        return "as many scenes as the beats need; the writer has not said how long it is to be"
    chapters = f" in {size.chapters} chapters" if size.chapters else ""
    words = f", {size.total_words} words in all" if size.total_words else ""
    return f"about {size.scene_count} scenes{chapters}{words}"


async def _with_titles(stage: Stage, scenes: tuple[PlannedScene, ...]) -> tuple[PlannedScene, ...]:
    """Have a small model pick a title for one scene of each beat from what its beat says."""
    titles: dict[str, str] = {}
    seen: set[int | None] = set()
    for scene in scenes:
        options = _title_options(scene.summary)
        if scene.beat_number in seen or len(options) < 2 or len(titles) >= _MOST_TITLES:
            continue
        seen.add(scene.beat_number)
        titles[scene.id] = await stage.choose(
            f"title/{scene.id}",
            FOREMAN,
            options,
            prompt=_SCENES.prompt,
            model=route_of(Workspace(stage.studio), FOREMAN),
            beats=shown("bible", scene.summary),
        )
    return retitled(scenes, titles)


def _title_options(summary: str) -> list[str]:
    words = summary.partition(".")[0].split()
    cuts = (short_title(words, count) for count in _TITLE_WORDS if len(words) >= count)
    whole = (cut for cut in cuts if len(cut.split()) >= _FEWEST_TITLE_WORDS)
    return list(dict.fromkeys(whole))
