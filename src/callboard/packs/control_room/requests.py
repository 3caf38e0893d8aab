"""Requests: what one already says of a recipe's arguments, looked up in the story's index.

Paths, scene numbers, titles in quotes, names with a card, themes. What cannot be made out is left
out: nothing is invented but the path of a scene that the outline has and nobody has written.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from pydantic import Field

from callboard.choreography.recipe import Recipe, RecipeLibrary, Router
from callboard.choreography.recipe.definition import CommitAction, find_refs, read_ref
from callboard.core.canonical import Json
from callboard.library.story.index import OutlineEntry, StoryIndex, story_index
from callboard.library.story.index.files import entry_chapter
from callboard.library.story.index.metadata import place_in_path
from callboard.library.story.model import FileKind
from callboard.library.story.tools.search import scene_numbers, scenes_in
from callboard.packs.control_room.evidence import FOLDER
from callboard.studio.studio import Studio
from callboard.tools import ToolArgs, ToolContext, ToolResult, tool

_SCENE_FOLDER: Final = "Story/Scenes"
_BARE_PATH: Final = re.compile(
    r"(?<![^\s\"'“”‘’,;:()])[^\s\"'“”‘’,;:()]+\.(?:md|markdown|txt)\b", re.IGNORECASE
)
_QUOTED: Final = re.compile(r"[\"“]([^\"“”]{2,80})[\"”]|(?<!\w)['‘]([^'‘’]{2,80})['’](?!\w)")
_NEXT: Final = re.compile(r"\bnext\s+(?:scene|chapter)\b", re.IGNORECASE)
_ABOUT: Final = re.compile(
    r"\b(?:about|of|around|concerning|foreshadow(?=\s+(?:the|an?|my|our|his|her|their)\b))\s+(.+)$",
    re.IGNORECASE | re.DOTALL,
)
_SCENES: Final = re.compile(
    r"\b(?:in|of|from|across|for)?\s*(?:scenes?|chapters?)\s*\d[\d\s,&+–—-]*(?:(?:and|to)\s*\d+)?",
    re.IGNORECASE,
)
_BETWEEN: Final = re.compile(r"(?:(?<!\s)\s++)?+(?:,|;|&|\band\b|\bor\b)\s*+", re.IGNORECASE)
_ARTICLE: Final = re.compile(r"^(?:the|a|an|my|our|his|her|their)\s+", re.IGNORECASE)
_TOO_WIDE: Final = frozenset(
    ("book", "novel", "story", "everything", "it", "this", "scenes", "all scenes", "whole book")
)
_MOST_THEMES: Final = 10
_MAX_CHARS: Final = 2_000


def take_seeds(studio: Studio, description: str, recipe: Recipe) -> Mapping[str, Json]:
    """Return the arguments of a recipe that a request gives."""
    return seeds_from(story_index(studio.tools.context("")), description, recipe)


def seeds_from(index: StoryIndex, description: str, recipe: Recipe) -> dict[str, Json]:
    """Do the same from an index; only what the recipe asks for is looked up."""
    found: dict[str, Json] = {}
    for name in recipe.required_args:
        look = _LOOKS.get(name)
        value = look(index, description, recipe) if look is not None else None
        if value:
            found[name] = value
    return found


def describe_task(studio: Studio, recipe: Recipe, args: Mapping[str, Json]) -> str:
    """Put a task into words that was started with arguments alone."""
    path = args.get("scene_path")
    if not isinstance(path, str):
        return recipe.label
    index = story_index(studio.tools.context(""))
    for scene in index.scenes:
        if scene.path == path:
            return _in_words(recipe, scene.scene_number and scene.label, scene.title)
    for entry in _entries(index):
        if path.endswith(f"-{entry.slug}.md"):
            return _in_words(recipe, entry.number, entry.title)
    return f"{recipe.label}: {path}"


def _in_words(recipe: Recipe, number: int | str | None, title: str) -> str:
    return f"{recipe.label}: scene {number}, {title}" if number else f"{recipe.label}: {title}"


def _scene_path(index: StoryIndex, description: str, recipe: Recipe) -> Json:
    paths = _scene_paths(index, description, recipe)
    # Several scenes are no answer to the question for one.
    return paths[0] if len(paths) == 1 else None


def _scene_paths(index: StoryIndex, description: str, recipe: Recipe) -> list[str]:
    creates = _creates(recipe, "scene_path")
    named = _named_paths(index, description, FileKind.SCENE, new_allowed=creates)
    if named:
        return named
    asked = scenes_in(description)
    found = [scene.path for scene in index.scenes if asked.has(scene)]
    written = {scene.scene_number for scene in index.scenes if asked.has(scene)}
    found += [
        path
        for number in sorted(scene_numbers(description) - written)
        if (path := _new_by_number(index, number, creates))
    ]
    return found or _by_title(index, description, creates) or _next(index, description, creates)


def _canon_paths(index: StoryIndex, description: str, _recipe: Recipe) -> list[str]:
    named = _named_paths(index, description, FileKind.CANON, new_allowed=False)
    cards = (hit.entity.card for hit in index.card_entities.find(description))
    return list(dict.fromkeys([*named, *(card for card in cards if card)]))


def _outline_path(index: StoryIndex, _description: str, _recipe: Recipe) -> Json:
    return index.outline.path if index.outline is not None else None


def _themes(_index: StoryIndex, description: str, _recipe: Recipe) -> list[str]:
    quoted = [first or second for first, second in _QUOTED.findall(description)]
    if quoted:
        return quoted[:_MOST_THEMES]
    about = _ABOUT.search(_SCENES.sub(" ", description))
    if about is None:
        return []
    parts = (_ARTICLE.sub("", part.strip(" .!?:")) for part in _BETWEEN.split(about[1]))
    wanted = (part for part in parts if len(part) > 1 and part.lower() not in _TOO_WIDE)
    return list(dict.fromkeys(wanted))[:_MOST_THEMES]


_LOOKS: Final[dict[str, Callable[[StoryIndex, str, Recipe], Json]]] = {
    "scene_path": _scene_path,
    "scene_paths": _scene_paths,
    "file_paths": _scene_paths,
    "canon_paths": _canon_paths,
    "outline_path": _outline_path,
    "themes": _themes,
}


def _named_paths(
    index: StoryIndex, description: str, kind: FileKind, *, new_allowed: bool
) -> list[str]:
    """Return the files a request names by path; one that is not there only if it may be made."""
    known = [file for file in index.files if file.path in description]
    if known:
        return [file.path for file in known if file.kind is kind]
    new = [path for path in _BARE_PATH.findall(description) if "/" in path]
    return new[:1] if new_allowed else []


def _new_by_number(index: StoryIndex, number: int, creates: bool) -> str | None:
    if not creates:
        return None
    for entry in _entries(index):
        if entry.number == number:
            return index.outline_matches.get(entry.index) or _path_for(index, entry)
    return None


def _by_title(index: StoryIndex, description: str, creates: bool) -> list[str]:
    titles = {
        (first or second).strip().casefold() for first, second in _QUOTED.findall(description)
    }
    written = [scene.path for scene in index.scenes if scene.title.casefold() in titles]
    if written or not creates:
        return written
    return [
        index.outline_matches.get(entry.index) or _path_for(index, entry)
        for entry in _entries(index)
        if entry.title.casefold() in titles
    ]


def _next(index: StoryIndex, description: str, creates: bool) -> list[str]:
    """Return the first scene of the outline that nobody has written, if that is asked for."""
    if not creates or _NEXT.search(description) is None:
        return []
    open_entries = (e for e in _entries(index) if e.index not in index.outline_matches)
    return [_path_for(index, entry) for entry in open_entries][:1]


def _path_for(index: StoryIndex, entry: OutlineEntry) -> str:
    """Return where a new scene goes: beside the others, under its title or the next number."""
    placed = [place for scene in index.scenes if (place := place_in_path(scene.path))]
    if placed:
        chapter = entry_chapter(entry) or max(placed)[0]
        number = max((scene for each, scene in placed if each == chapter), default=0) + 1
        above = next(scene.path for scene in index.scenes if place_in_path(scene.path))
        return f"{above.rsplit('/', 2)[0]}/Chapter_{chapter:02d}/Scene_{number:02d}.md"
    folders = Counter(scene.path.rpartition("/")[0] for scene in index.scenes)
    folder = folders.most_common(1)[0][0] if folders else _SCENE_FOLDER
    name = f"SCN-{entry.slug or f'scene-{entry.number or entry.index}'}.md"
    return f"{folder}/{name}" if folder else name


def _entries(index: StoryIndex) -> tuple[OutlineEntry, ...]:
    outline = index.outline_tree
    return outline.entries if outline is not None else ()


def _creates(recipe: Recipe, arg: str) -> bool:
    """Say whether a recipe writes the file an argument names, so that it need not exist."""
    return any(
        read_ref(each).task_arg == arg
        for commit in recipe.commit
        if commit.action is CommitAction.WRITE_FILE
        for _, each in find_refs(commit.path)
    )


class TaskRouterArgs(ToolArgs):
    """What the user wants to have done."""

    user_request: str = Field(min_length=1, max_length=_MAX_CHARS)


@tool()
def task_router(context: ToolContext, args: TaskRouterArgs) -> ToolResult:
    """Say which recipe a request is for, with the arguments its words give."""
    kept = context.files.kept
    project = None if kept is None else kept / "recipes"
    library = context.kept.get("task_router", lambda: RecipeLibrary(FOLDER / "recipes", project))
    router = Router(library, lambda text, recipe: seeds_from(story_index(context), text, recipe))
    routing = router.route(args.user_request)
    preview = f"{routing.recipe_id}: {routing.reason}" if routing.routable else str(routing)
    return ToolResult(routing.to_json(), preview, str(routing))
