"""Evidence: what Control Room's roles rest their words on.

The rules of evidence, what a file is, and the calls that code can prepare for a message. Words of
the message decide; no model is asked, one may pick from what is proposed here.
"""

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from callboard.choreography.conference import ProposedCall
from callboard.choreography.grounding import Grounding, KindOf
from callboard.core.canonical import Json
from callboard.library.story.index import StoryIndex, story_index
from callboard.library.story.model import StoryFile
from callboard.library.story.tools.search import scenes_in
from callboard.replies.evidence import EvidenceRules
from callboard.studio.studio import Studio
from callboard.tools import ToolContext

PACK: Final = "control_room"
FOLDER: Final = Path(__file__).parent
_MOST_CALLS: Final = 6
_MOST_FILES: Final = 10
_WORDS: Final = {
    "outline": re.compile(r"\b(?:outline|structure|beats?|acts?|order|plot)\b", re.I),
    "prose": re.compile(
        r"\b(?:prose|pac(?:e|ing)|voice|rhythm|style|sentences?|slow|fast)\b", re.I
    ),
    "consistency": re.compile(
        r"\b(?:consisten\w*|contradict\w*|timeline|continuity|dead|dies|died)\b", re.I
    ),
    "stakes": re.compile(r"\b(?:stakes?|tension|foreshadow\w*|theme|themes|threat)\b", re.I),
    "reader": re.compile(r"\b(?:readers?|confus\w*|bor(?:ed|ing)|engag\w*|payoff|setup)\b", re.I),
    "validate": re.compile(r"\b(?:validate|ready|done|finished|complete)\b", re.I),
}


def grounding(_studio: Studio | None = None) -> Grounding:
    """Return the rules with the eyes that tell a scene from a card."""
    return Grounding(EvidenceRules.load(FOLDER / "evidence.yaml"), _kinds, must_bear=True)


def _kinds(studio: Studio) -> KindOf:
    def kind_of(path: str) -> str:
        return story_index(studio.tools.context("")).kind_of(path).value

    return kind_of


def propose_calls(context: ToolContext, message: str) -> Sequence[ProposedCall]:
    """Return the calls that would help with a message, the most useful first."""
    index = story_index(context)
    topics = {topic for topic, words in _WORDS.items() if words.search(message)}
    scenes = _scenes_in(index, message)
    calls = [*_about_scenes(index, scenes, topics), *_about_story(index, topics, message)]
    locate: dict[str, Json] = {"search_criteria": message[:400]}
    calls.append(ProposedCall("file_locator", locate, "find the files about this"))
    return tuple({call.label: call for call in calls[: _MOST_CALLS - 1] + calls[-1:]}.values())


def known_names(context: ToolContext) -> Collection[str]:
    """Return every name the project's story is known to hold."""
    return {alias for entity in story_index(context).entities for alias in entity.aliases}


def _about_scenes(
    index: StoryIndex, scenes: Sequence[StoryFile], topics: Collection[str]
) -> list[ProposedCall]:
    calls: list[ProposedCall] = []
    for scene in scenes[:2]:
        args: dict[str, Json] = {"scene_path": scene.path}
        canon = ProposedCall("canon_checker", args, f"compare {scene.title} with canon")
        prose = ProposedCall("prose_analyzer", args, f"measure the prose of {scene.title}")
        ready = ProposedCall("scene_draft_validator", args, f"validate {scene.title}")
        wanted = [
            *([ready] if "validate" in topics else []),
            *([prose] if "prose" in topics else []),
            *([canon] if index.canon else []),
        ]
        calls += wanted or [prose]
    if len(scenes) > 1:
        paths: list[Json] = [scene.path for scene in scenes[:_MOST_FILES]]
        calls.append(
            ProposedCall("consistency_checker", {"file_paths": paths}, "compare these scenes")
        )
    return calls


def _about_story(index: StoryIndex, topics: Collection[str], message: str) -> list[ProposedCall]:
    calls: list[ProposedCall] = []
    if "consistency" in topics and index.scenes:
        paths: list[Json] = [scene.path for scene in index.scenes[:_MOST_FILES]]
        args: dict[str, Json] = {"file_paths": paths}
        calls.append(ProposedCall("consistency_checker", args, "look for contradictions"))
    if "stakes" in topics and index.scenes:
        calls.append(ProposedCall("stakes_mapper", {}, "map the stakes of all scenes"))
    if "reader" in topics and index.scenes:
        calls.append(ProposedCall("reader_experience_simulator", {}, "read as a reader does"))
    if index.outline is not None:
        args = {"target": message[:400]}
        outline = ProposedCall("outline_analyzer", args, "look at the outline")
        calls.insert(0 if "outline" in topics else len(calls), outline)
    return calls


def _scenes_in(index: StoryIndex, message: str) -> list[StoryFile]:
    """Return the scenes a message names: by path, number or title, in story order."""
    asked = scenes_in(message)
    words = message.casefold()
    return [
        scene
        for scene in index.scenes
        if scene.path.casefold() in words
        or asked.has(scene)
        or (len(scene.title) > 3 and scene.title.casefold() in words)
    ]
