"""StoryIndex: the project as story tools see it. Immutable; derives things when first asked."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Final

from callboard.library.story.index.chapters import is_unmarked_scene
from callboard.library.story.index.entities import (
    Entities,
    Mention,
    build_entities,
    entities_of_cards,
)
from callboard.library.story.index.files import (
    SUFFIXES,
    ParsedFile,
    ParsedFiles,
    ParsedTexts,
    in_story_order,
    match_files,
)
from callboard.library.story.index.names import NameCounts
from callboard.library.story.index.outline import (
    NoOutline,
    Outline,
    read_outline,
)
from callboard.library.story.model import FileKind, StoryFile
from callboard.library.story.text import Document
from callboard.library.story.thresholds import (
    Thresholds,
    bundled_thresholds,
    read_thresholds,
)
from callboard.studio.settings_files import PackSettingsRead
from callboard.tools import FileMissing, Kept, ProjectFiles, ToolContext, Unreadable

_REST: Final = {FileKind.OUTLINE: 0, FileKind.CANON: 1, FileKind.OTHER: 2}


class StoryIndex:
    """The files of a project, what they are, their order and who is in them."""

    def __init__(
        self,
        files: ProjectFiles | None,
        texts: ParsedTexts,
        limits: PackSettingsRead[Thresholds],
    ) -> None:
        """Take the texts of a project; `from_files` and `from_texts` make an index."""
        self._files = files
        self._parsed = _with_scenes(texts.parsed)
        self._problems = texts.problems
        self._limits = limits
        self._mentions: dict[str, tuple[Mention, ...]] = {}
        self._outlines: dict[str, Outline] = {}

    @classmethod
    def from_files(
        cls,
        files: ProjectFiles,
        kept: Kept | None = None,
        limits: PackSettingsRead[Thresholds] | None = None,
    ) -> "StoryIndex":
        """Read a project; what was kept from an earlier call is not parsed again."""
        kept = kept or Kept()
        limits = limits or PackSettingsRead(bundled_thresholds())
        parsed = kept.get("story files", ParsedFiles)
        texts = parsed.refresh(files, limits.values.files.max_file_bytes)
        last = kept.get("story index", _Last)
        made = last.made
        if made is None or made[0] is not texts or made[1] != limits:
            # Two threads may both make one: they are equal, and either may stay.
            made = last.made = (texts, limits, cls(files, texts, limits))
        return made[2]

    @classmethod
    def from_texts(cls, texts: Iterable[ParsedFile]) -> "StoryIndex":
        """Take texts that lie in no folder; what each of them is, its path tells."""
        parsed = {each.document.path: each for each in texts}
        return cls(None, ParsedTexts(parsed, {}), PackSettingsRead(bundled_thresholds()))

    @cached_property
    def files(self) -> tuple[StoryFile, ...]:
        """Every file: the scenes in story order, then outlines, canon and the rest by path."""
        rest = [each.file for each in self._parsed.values() if each.file.kind is not FileKind.SCENE]
        rest.sort(key=lambda file: (_REST[file.kind], file.path))
        return (*self.scenes, *rest)

    @cached_property
    def scenes(self) -> tuple[StoryFile, ...]:
        """The scenes in story order."""
        return in_story_order(
            self._of_kind(FileKind.SCENE), self.outline_tree, self.outline_matches
        )

    @cached_property
    def canon(self) -> tuple[StoryFile, ...]:
        """The canon cards by path."""
        return tuple(self._of_kind(FileKind.CANON))

    @cached_property
    def outline(self) -> StoryFile | None:
        """The project's outline: of several, the one highest up with the shortest path."""
        found = self._of_kind(FileKind.OUTLINE)
        return min(found, key=lambda file: (file.path.count("/"), len(file.path)), default=None)

    @cached_property
    def outline_tree(self) -> Outline | None:
        """The project's outline, taken apart."""
        return None if self.outline is None else self.read_outline(self.outline.path)

    @cached_property
    def outline_matches(self) -> Mapping[int, str]:
        """Which entry of the project's outline is which scene file."""
        return match_files(self.outline_tree, self._of_kind(FileKind.SCENE))

    @cached_property
    def entities(self) -> Entities:
        """Who and what the story is about."""
        counts = (self._parsed[file.path].names for file in self.scenes)
        return build_entities(self.card_entities, counts, self._limits.values.names)

    @cached_property
    def card_entities(self) -> Entities:
        """Only those that have a card: cheap, for it reads no scene."""
        return entities_of_cards([(file, self.document(file.path)) for file in self.canon])

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What was left out or could not be read as it was meant."""
        told = [f"{path}: {problem}" for path, problem in self._problems.items()]
        for path, each in self._parsed.items():
            if each.document.front_error:
                told.append(f"{path}: {each.document.front_error}")
        return (*self._limits.warnings, *sorted(told))

    def document(self, path: str) -> Document:
        """Return a file's parsed text."""
        return self._get(path).document

    def file(self, path: str) -> StoryFile:
        """Return a file's description, or say which files have a name like it."""
        found = self._get(path).file
        return self._scenes_by_path.get(found.path, found)

    def has(self, path: str) -> bool:
        """Say whether a file is in the index; a path out of the project is refused."""
        return path in self._parsed or self._resolved(path) in self._parsed

    def chapters_of(self, path: str) -> tuple[StoryFile, ...]:
        """Return the chapters of a file that holds a whole book; of any other the file itself."""
        found = self._get(path)
        return tuple(part.file for part in found.chapters) or (self.file(path),)

    def kind_of(self, path: str) -> FileKind:
        """Return what a file is to the story; what is not indexed is `other`."""
        found = self._parsed.get(path)
        return FileKind.OTHER if found is None else found.file.kind

    def mentions(self, path: str) -> tuple[Mention, ...]:
        """Return where entities are named in a file, sentence by sentence."""
        document = self.document(path)
        if document.path not in self._mentions:
            entities = self.entities
            self._mentions[document.path] = tuple(
                Mention(hit.entity, hit.start, hit.end, hit.surface, number)
                for number, sentence in enumerate(document.sentences)
                for hit in entities.find(sentence.text)
            )
        return self._mentions[document.path]

    def names(self, path: str) -> NameCounts:
        """Return how often each capitalised run occurs in a file."""
        return self._get(path).names

    def read_outline(self, path: str) -> Outline:
        """Take an outline file apart, once."""
        document = self.document(path)
        if document.path not in self._outlines:
            self._outlines[document.path] = read_outline(document)
        return self._outlines[document.path]

    def need_outline(self, path: str | None = None) -> StoryFile:
        """Return the outline that was asked for, else the project's, or say that there is none."""
        if path is not None:
            return self.file(path)
        if self.outline is None:
            raise NoOutline(
                "The project has no outline",
                fix="Add a file whose name contains 'outline', or give one `type: outline`.",
            )
        return self.outline

    @cached_property
    def _scenes_by_path(self) -> Mapping[str, StoryFile]:
        return {scene.path: scene for scene in self.scenes}

    def _of_kind(self, kind: FileKind) -> list[StoryFile]:
        found = [each.file for each in self._parsed.values() if each.file.kind is kind]
        return sorted(found, key=lambda file: file.path)

    def _resolved(self, path: str) -> str:
        return path if self._files is None else self._files.resolve(path)

    def _get(self, path: str) -> ParsedFile:
        if path in self._parsed:
            return self._parsed[path]
        known = self._resolved(path)
        if known in self._parsed:
            return self._parsed[known]
        if known in self._problems:
            told = self._problems[known]
            raise Unreadable(f"{known}: {told}", fix="Give another file.", path=known)
        if self._files is not None:
            # Says what is there instead, or why it cannot be read.
            self._files.read_bytes(known)
        raise FileMissing(
            f"{known} is not a text of the story",
            fix=f"Texts end in {', '.join(SUFFIXES)} and lie outside hidden folders.",
            path=known,
        )


def _with_scenes(parsed: Mapping[str, ParsedFile]) -> Mapping[str, ParsedFile]:
    """Take the texts of a folder that marks none as a scene for its scenes."""
    if any(each.file.kind is FileKind.SCENE for each in parsed.values()):
        return parsed
    return {
        path: replace(each, file=replace(each.file, kind=FileKind.SCENE))
        if is_unmarked_scene(each.file, each.document)
        else each
        for path, each in parsed.items()
    }


class _Last:
    """The index made last, and of what."""

    def __init__(self) -> None:
        self.made: tuple[ParsedTexts, PackSettingsRead[Thresholds], StoryIndex] | None = None


def story_index(context: ToolContext) -> StoryIndex:
    """Return the project's index, brought up to date; kept between the calls of one process."""
    return StoryIndex.from_files(context.files, context.kept, read_thresholds(context))
