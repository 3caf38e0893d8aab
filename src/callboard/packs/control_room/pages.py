"""The pages of a novel that bear on a job: the scenes around it, the cards it names, its style.

What a message or a task names is looked up in the story's index; what it does not name is not
guessed. The nearest scene comes first, for a reader remembers it best.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, cast

from callboard.choreography.pages import PageFinder, PageWish, ProjectPage, Telling
from callboard.core.canonical import Json
from callboard.library.story.index import OutlineEntry, StoryIndex, story_index
from callboard.library.story.model import FileKind, StoryFile
from callboard.library.story.text import stem, words_of
from callboard.library.story.thresholds import bundled_thresholds
from callboard.library.story.tools.prose.voice import (
    narration_of,
    person_of,
    proper_words,
    tenses_of,
)
from callboard.library.story.tools.ranking import FileRanking
from callboard.library.story.tools.search import read_criteria, scene_numbers
from callboard.packs.control_room.tense import in_past
from callboard.studio.studio import Studio

_STYLE: Final = re.compile(r"\b(?:style|voice|tone)\b", re.IGNORECASE)
_PAST: Final = re.compile(r"\bpast tense\b", re.IGNORECASE)
_MOST_CARDS: Final = 8
_MOST_FOUND: Final = 4
_BEFORE: Final = 2
_SAMPLED: Final = 6


def find_pages(studio: Studio, wish: PageWish) -> list[ProjectPage]:
    """Return the pages a job asks for, each file once, in the order of the kinds."""
    index = story_index(studio.tools.context(""))
    job = _PageSearch(index, wish)
    found: dict[str, ProjectPage] = {}
    for kind in wish.kinds:
        for page in _KINDS[kind](job):
            found.setdefault(page.path, page)
    return list(found.values())


def telling_of(index: StoryIndex) -> tuple[str, str]:
    """Return the tense and the person most of the written scenes are told in."""
    tenses: dict[str, int] = {}
    persons: dict[str, int] = {}
    for scene in index.scenes[-_SAMPLED:]:
        document = index.document(scene.path)
        if not document.is_english:
            continue
        narration = narration_of(document)
        person, _ = person_of(narration)
        tense = tenses_of(narration, person, proper_words(document)).majority
        persons[person] = persons.get(person, 0) + narration.word_count
        tenses[tense] = tenses.get(tense, 0) + narration.word_count
    return _most(tenses), _most(persons)


def retell(studio: Studio, text: str) -> str:
    """Return prose of the present in the tense of the book, if the book is told in the past.

    Where no scene tells, what the notes on style say does.
    """
    index = story_index(studio.tools.context(""))
    tense, _ = telling_of(index)
    if tense == "unknown":
        notes = (index.document(each.path).text for each in index.files if _is_style(each))
        tense = "past" if any(_PAST.search(note) for note in notes) else tense
    return in_past(text) if tense == "past" else text


def is_told(studio: Studio, sentence: str) -> bool:
    """Say whether a scene has a sentence already, in the one tense or the other."""
    index = story_index(studio.tools.context(""))
    forms = (sentence, in_past(sentence))
    return any(form in index.document(each.path).text for each in index.scenes for form in forms)


TELLING: Final = Telling(retell, is_told)


def _most(counts: dict[str, int]) -> str:
    known = {name: count for name, count in counts.items() if name != "unknown"}
    return max(known, key=lambda name: known[name]) if known else "unknown"


class _PageSearch:
    """What a job is about, found once."""

    def __init__(self, index: StoryIndex, wish: PageWish) -> None:
        self.index = index
        self.wish = wish
        self.scene_path = _text(wish.args.get("scene_path"))
        self.entry = self._entry()

    def _entry(self) -> OutlineEntry | None:
        """Return the outline's entry of the scene, written or not."""
        outline = self.index.outline_tree
        if outline is None:
            return None
        by_path = {path: at for at, path in self.index.outline_matches.items()}
        numbers = scene_numbers(self.wish.about)
        for entry in outline.entries:
            path = self.scene_path
            if path and (by_path.get(path) == entry.index or path.endswith(f"-{entry.slug}.md")):
                return entry
        found = [entry for entry in outline.entries if entry.number in numbers]
        return found[0] if len(found) == 1 and not self.scene_path else None

    @property
    def target(self) -> StoryFile | None:
        path = self.scene_path
        return self.index.file(path) if path and self.index.has(path) else None

    def around(self) -> tuple[list[StoryFile], list[StoryFile]]:
        """Return the written scenes before and after, in story order."""
        scenes = list(self.index.scenes)
        target = self.target
        if target is not None:
            at = next((n for n, each in enumerate(scenes) if each.path == target.path), None)
            return ([], []) if at is None else (scenes[:at], scenes[at + 1 :])
        if self.entry is None:
            return [], []
        place = {path: at for at, path in self.index.outline_matches.items()}
        before = [each for each in scenes if place.get(each.path, -1) < self.entry.index]
        return before, [each for each in scenes if each not in before]

    def words(self) -> str:
        """Return everything the job says, its outline entry and its scene included."""
        parts = [self.wish.about]
        if self.entry is not None:
            parts += [*self.entry.fields.values(), self.entry.summary]
            parts += [beat.text for beat in self.entry.beats]
        target = self.target
        if target is not None:
            parts.append(self.index.document(target.path).prose)
        return "\n".join(parts)


def _target(job: _PageSearch) -> Iterator[ProjectPage]:
    target = job.target
    if target is not None:
        yield _page(job, target, "The scene as it stands")
    for path in _texts(job.wish.args.get("canon_paths")):
        if job.index.has(path):
            yield _page(job, job.index.file(path), "The card as it stands")


def _outline(job: _PageSearch) -> Iterator[ProjectPage]:
    if job.index.outline is not None:
        yield _page(job, job.index.outline, "The outline")


def _before(job: _PageSearch) -> Iterator[ProjectPage]:
    before, _ = job.around()
    for number, scene in enumerate(reversed(before[-_BEFORE:])):
        told = "The scene before" if number == 0 else "The scene before that"
        yield _page(job, scene, told, keeps_end=True)


def _after(job: _PageSearch) -> Iterator[ProjectPage]:
    _, after = job.around()
    for scene in after[:1]:
        yield _page(job, scene, "The scene after")


def _cards(job: _PageSearch) -> Iterator[ProjectPage]:
    hits = (hit.entity for hit in job.index.card_entities.find(job.words()))
    named = dict.fromkeys(entity.card for entity in hits if entity.card)
    for path in list(named)[:_MOST_CARDS]:
        yield _page(job, job.index.file(str(path)), "A card")


def _style(job: _PageSearch) -> Iterator[ProjectPage]:
    tense, person = telling_of(job.index)
    told = [
        f"Most of the book is told in the {word} {kind}."
        for word, kind in ((tense, "tense"), (person, "person"))
        if word != "unknown"
    ]
    notes = [each for each in job.index.files if _is_style(each)]
    for note in notes[:1]:
        text = "\n".join([*told, job.index.document(note.path).text])
        yield ProjectPage(note.path, "How the book is told", text)
    if told and not notes:
        yield ProjectPage("", "How the book is told", "\n".join(told))


def _named(job: _PageSearch) -> Iterator[ProjectPage]:
    """Yield what the words themselves name: scenes by number, title or path, cards by name."""
    numbers, words = scene_numbers(job.wish.about), job.wish.about.casefold()
    for scene in job.index.scenes:
        by_title = len(scene.title) > 3 and scene.title.casefold() in words
        if scene.scene_number in numbers or by_title or scene.path.casefold() in words:
            yield _page(job, scene, _scene_title(scene))
    cards = (hit.entity.card for hit in job.index.card_entities.find(job.wish.about))
    for path in list(dict.fromkeys(each for each in cards if each))[:_MOST_CARDS]:
        yield _page(job, job.index.file(path), "A card")


def _found(job: _PageSearch) -> Iterator[ProjectPage]:
    """Yield the paragraphs that speak of the words, though they name no file."""
    sizes = bundled_thresholds().file_locator
    criteria = read_criteria(job.wish.about, sizes.max_criteria_tokens)
    if not criteria.tokens:
        return
    ranking = FileRanking(job.index, criteria, sizes)
    wanted = {stem(form) for forms in ranking.tokens.values() for form in forms}
    for match in ranking.rank(with_bodies=True)[:_MOST_FOUND]:
        document = job.index.document(match.file.path)
        paragraphs = (each.strip() for each in re.split(r"\n\s*\n", document.text))
        told = [each for each in paragraphs if wanted & {stem(word) for word in words_of(each)}]
        if told:
            file = match.file
            title = _scene_title(file) if file.kind is FileKind.SCENE else "A file"
            yield ProjectPage(file.path, f"{title}: {file.path}", "\n\n".join(told))


_KINDS: Final[dict[str, Callable[[_PageSearch], Iterator[ProjectPage]]]] = {
    "target": _target,
    "before": _before,
    "after": _after,
    "cards": _cards,
    "style": _style,
    "outline": _outline,
    "named": _named,
    "found": _found,
}
FINDER: Final = PageFinder(tuple(_KINDS), find_pages)


def _page(job: _PageSearch, file: StoryFile, title: str, *, keeps_end: bool = False) -> ProjectPage:
    text = job.index.document(file.path).text
    return ProjectPage(file.path, f"{title}: {file.path}", text, keeps_end)


def _scene_title(scene: StoryFile) -> str:
    return f"Scene {scene.scene_number}" if scene.scene_number else "A scene"


def _is_style(file: StoryFile) -> bool:
    return file.kind is FileKind.OTHER and bool(
        _STYLE.search(file.title) or _STYLE.search(file.path.rpartition("/")[2].replace("-", " "))
    )


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Json) -> Sequence[str]:
    listed = cast("list[Json]", value) if isinstance(value, list) else []
    return [each for each in listed if isinstance(each, str)]
