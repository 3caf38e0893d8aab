"""The library: bundled recipes and the project's own, as on disk now. Refuses unknown ones.

Task patterns are words, or a simple regular expression, looked for in what a user asks for.

A project's recipe replaces the bundled one of the same id whole. One that cannot be used is left
out with a warning, and the bundled one stays in force.

Both are compared in lower case and without articles and fillers. Recipes come with projects of
others: their expressions run on the linear engine.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

from callboard.choreography.recipe.definition.model import Recipe
from callboard.choreography.recipe.definition.reading import read_recipe
from callboard.choreography.recipe.errors import Problem, RecipeInvalid, RecipeNotFound, invalid
from callboard.core import patterns
from callboard.core.canonical import Json, composed
from callboard.store.reading import FileRefused, read_bounded

_MAX_CHARS: Final = 200
_FILLERS: Final = frozenset(
    ("a", "an", "the", "my", "our", "your", "new", "next", "please", "this", "that", "some")
)
_META: Final = re.compile(r"[\\.^$*+?{}\[\]|()]")
# A request is a sentence or two; what follows is not looked at for a recipe's words.
_MOST_TEXT: Final = 4_000
_DASHES: Final = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))  # noqa: RUF001 - dashes people type


def plain_words(text: str) -> str:
    """Return a request as patterns see it: lower case, one space, no fillers."""
    folded = composed(text[:_MOST_TEXT]).translate(_DASHES).casefold()
    return " ".join(word for word in folded.split() if word not in _FILLERS)


def pattern_problem(pattern: str) -> str | None:
    """Say why a pattern cannot be used as a regular expression, or None."""
    if len(pattern) > _MAX_CHARS:
        return f"is longer than {_MAX_CHARS} characters"
    if _META.search(pattern) is None:
        return None
    return patterns.pattern_problem(pattern)


def matched_chars(pattern: str, words: str) -> int:
    """Return how many characters of a request, as `plain_words` gives it, a pattern covers."""
    literal = plain_words(pattern)
    if literal and literal in words:
        return len(literal)
    if _META.search(pattern) is None or pattern_problem(pattern) is not None:
        return 0
    found = patterns.compile_pattern(pattern, ignores_case=True).search(words)
    return 0 if found is None else found[1] - found[0]


Source = Literal["bundled", "project"]
Judge = Callable[[Recipe, str], list[Problem]]
"""Says what keeps a recipe, read from a file, from working here."""

_MAX_BYTES: Final = 1_000_000
_Stamp = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Shelved:
    """A recipe in force: where it came from, and what the user should know about it."""

    recipe: Recipe
    source: Source
    file: str
    warnings: tuple[Problem, ...] = ()
    # What keeps a bundled recipe from working, such as a project's own template.
    problems: tuple[Problem, ...] = ()

    def require_sound(self) -> Recipe:
        """Return the recipe, or tell what is wrong with it."""
        if self.problems:
            raise invalid(list(self.problems))
        return self.recipe


@dataclass(frozen=True, slots=True)
class Shelves:
    """Everything in force at one moment, by id, with all warnings."""

    recipes: dict[str, Shelved] = field(default_factory=dict[str, Shelved])
    warnings: tuple[Problem, ...] = ()


class RecipeLibrary:
    """Reads two folders of recipes, again when a file in them changed."""

    def __init__(self, bundled: Path, project: Path | None, judge: Judge | None = None) -> None:
        """Take the pack's folder and the project's; without a judge only the shape is checked."""
        self._folders: tuple[tuple[Source, Path], ...] = (("bundled", bundled),)
        if project is not None:
            self._folders = (*self._folders, ("project", project))
        self._judge = judge
        self._read: tuple[_Stamp, Shelves] | None = None

    def shelves(self) -> Shelves:
        """Return what is in force now."""
        stamp = tuple(each for _, folder in self._folders for each in _stamp(folder))
        if self._read is None or self._read[0] != stamp:
            self._read = (stamp, self._load())
        return self._read[1]

    def recipes(self) -> tuple[Shelved, ...]:
        """Return the recipes in force, sorted by id."""
        found = self.shelves().recipes
        return tuple(found[name] for name in sorted(found))

    def find(self, recipe_id: str) -> Shelved | None:
        """Return a recipe as it is on disk."""
        return self.shelves().recipes.get(recipe_id)

    def get(self, recipe_id: str) -> Shelved:
        """Return a recipe, judged against the tools and templates of now.

        An unknown id names the known ones.
        """
        found = self.find(recipe_id)
        if found is None:
            known = ", ".join(sorted(self.shelves().recipes)) or "none"
            raise RecipeNotFound(
                f"There is no recipe {recipe_id!r}",
                fix=f"Recipes: {known}.",
                recipe_id=recipe_id,
            )
        if self._judge is None:
            return found
        return replace(found, problems=tuple(self._judge(found.recipe, found.file)))

    def _load(self) -> Shelves:
        in_force: dict[str, Shelved] = {}
        warnings: list[Problem] = []
        for source, folder in self._folders:
            own: dict[str, Shelved] = {}
            for shown, path in _files(folder, source):
                try:
                    shelved = self._shelve(source, shown, path)
                    twin = own.get(shelved.recipe.recipe_id)
                    if twin is not None:
                        told = f"{shelved.recipe.recipe_id!r} is also in {twin.file}"
                        raise invalid([Problem(shown, "recipe_id", told)])
                except RecipeInvalid as error:
                    warnings.extend(_problems_of(error))
                    continue
                own[shelved.recipe.recipe_id] = shelved
                warnings.extend((*shelved.warnings, *shelved.problems))
            in_force.update(own)
        return Shelves(in_force, tuple(warnings))

    def _shelve(self, source: Source, shown: str, path: Path) -> Shelved:
        recipe = read_recipe(_text(path, shown), shown)
        problems = self._judge(recipe, shown) if self._judge is not None else []
        if problems and source == "project":
            raise invalid(problems)
        return Shelved(
            recipe, source, shown, tuple(_pattern_warnings(recipe, shown)), tuple(problems)
        )


def shelved_to_json(shelved: Shelved) -> dict[str, Json]:
    """Return a recipe as doors list it."""
    recipe = shelved.recipe
    return {
        "recipe_id": recipe.recipe_id,
        "label": recipe.label,
        "source": shelved.source,
        "file": shelved.file,
        "task_patterns": list(recipe.task_patterns),
        "required_args": list(recipe.required_args),
        "total_steps": recipe.total_steps,
        "agents": list(recipe.archetypes),
        "warnings": [each.to_json() for each in (*shelved.warnings, *shelved.problems)],
    }


def _pattern_warnings(recipe: Recipe, file: str) -> Iterator[Problem]:
    for number, pattern in enumerate(recipe.task_patterns):
        told = pattern_problem(pattern)
        if told is not None:
            yield Problem(file, f"task_patterns[{number}]", told)


def _problems_of(error: RecipeInvalid) -> Iterator[Problem]:
    told: list[dict[str, str]] = error.context["problems"]
    for each in told:
        yield Problem(each["file"], each["field"], each["message"])


def _files(folder: Path, source: Source) -> list[tuple[str, Path]]:
    prefix = ".callboard/recipes" if source == "project" else "bundled"
    names = sorted(name for name, *_ in _stamp(folder))
    return [(f"{prefix}/{name}", folder / name) for name in names]


def _stamp(folder: Path) -> _Stamp:
    found: list[tuple[str, int, int, int]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if (
                    entry.name.endswith(".json")
                    and not entry.name.startswith(".")
                    and entry.is_file()
                ):
                    status = entry.stat()
                    found.append((entry.name, status.st_mtime_ns, status.st_size, status.st_ino))
    except OSError:
        # A folder that is not there holds no recipes.
        return ()
    return tuple(sorted(found))


def _text(path: Path, shown: str) -> str:
    try:
        data = read_bounded(path, limit_bytes=_MAX_BYTES, within=path.parent)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise invalid([Problem(shown, "", f"is not UTF-8 (byte {error.start})")]) from None
    except FileNotFoundError:
        raise invalid([Problem(shown, "", "is not there any more")]) from None
    except FileRefused as refused:
        raise invalid([Problem(shown, "", refused.reason)]) from None
