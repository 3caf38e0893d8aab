"""The registry of loops: all of them in a few lines each, found by name, and what follows what.

What the Showrunner sees of loops that do not run is rendered here, from the loops themselves.
"""

import difflib
from collections.abc import Iterable, Sequence
from functools import cached_property
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final

from callboard.choreography.loop.definition import Loop, LoopInvalid
from callboard.choreography.loop.reading import read_loop
from callboard.core.errors import CallboardError, NotFound
from callboard.core.parsing import decode_text
from callboard.store.reading import read_bounded
from callboard.studio.packs import package_folder

_MOST_BYTES: Final = 1_000_000
_WIDE: Final = 100_000


class UnknownLoop(NotFound, ValueError):
    """There is no loop of that name."""

    code = "unknown_loop"


class LoopRegistry:
    """The loops of a project, by id and by alias."""

    def __init__(self, loops: Iterable[Loop]) -> None:
        """Take the loops; two of one name are refused."""
        self._loops: dict[str, Loop] = {}
        self._aliases: dict[str, str] = {}
        for loop in loops:
            for name in (loop.id, *loop.aliases):
                if name in self._loops or name in self._aliases:
                    raise LoopInvalid(
                        f"There are two loops named {name!r}",
                        fix="Give one of them another id, or take the alias out.",
                        loop=name,
                    )
                self._aliases[name] = loop.id
            self._loops[loop.id] = loop

    def names(self) -> tuple[str, ...]:
        """Return the ids of all loops, in the order they were given."""
        return tuple(self._loops)

    def loops(self) -> tuple[Loop, ...]:
        """Return all loops."""
        return tuple(self._loops.values())

    def get(self, name: str) -> Loop:
        """Return a loop by its id or an alias; an unknown name is told with the closest ones."""
        found = self._aliases.get(name)
        if found is not None:
            return self._loops[found]
        close = difflib.get_close_matches(name, self._aliases, n=3)
        raise UnknownLoop(
            f"Unknown loop: {name}",
            fix=f"Closest: {', '.join(close)}." if close else f"Loops: {', '.join(self._loops)}.",
            loop=name,
            closest=list(close),
        )

    def dangling(self) -> tuple[str, ...]:
        """Say which hints lead to no loop."""
        return tuple(
            f"{loop.id}: {field} names {name!r}, which is no loop and no alias"
            for loop in self._loops.values()
            for field, names in (("follows", loop.follows), ("precedes", loop.precedes))
            for name in names
            if name not in self._aliases
        )

    def successors(self, name: str) -> tuple[str, ...]:
        """Return the loops that often come after one, its own hints first."""
        ended = self.get(name)
        hinted = [self._aliases[each] for each in ended.precedes if each in self._aliases]
        follow = [each.id for each in self._loops.values() if ended.id in self._resolved(each)]
        return tuple(dict.fromkeys((*hinted, *follow)))

    def consumers(self, kind: str) -> tuple[str, ...]:
        """Return the loops that take a kind of artifact, by what they need or say they take."""
        wanted = frozenset(_plain(kind))
        return tuple(
            loop.id
            for loop in self._loops.values()
            if any(kind in need.kinds for need in loop.entry_inputs)
            or any(wanted <= frozenset(_plain(each)) for each in loop.inputs)
        )

    def makers(self, kind: str) -> tuple[str, ...]:
        """Return the loops that make a kind of artifact."""
        return tuple(loop.id for loop in self._loops.values() if kind in loop.producers)

    def is_apt(self, name: str, after: str) -> bool:
        """Say whether a loop is a usual follow-up to another."""
        return self.get(name).id in self.successors(after)

    def table(self) -> dict[str, dict[str, Any]]:
        """Return what is known of every loop that does not run."""
        return {loop.id: self._entry(loop) for loop in self._loops.values()}

    @cached_property
    def rendered(self) -> str:
        """The registry as the Showrunner reads it: seven lines for each loop."""
        import yaml

        return yaml.safe_dump(
            self.table(),
            default_flow_style=None,
            width=_WIDE,
            sort_keys=True,
            allow_unicode=True,
        )

    def _entry(self, loop: Loop) -> dict[str, Any]:
        return {
            "purpose": _line(loop.purpose),
            "typical_inputs": [_line(each) for each in loop.inputs],
            "typical_outputs": [_line(each) for each in loop.outputs],
            "scope": _line(loop.scope.summary),
            "often_follows": [self._aliases.get(each, each) for each in loop.follows],
            "often_precedes": [self._aliases.get(each, each) for each in loop.precedes],
        }

    def _resolved(self, loop: Loop) -> set[str]:
        return {self._aliases.get(each, each) for each in loop.follows}


def load_loops(folders: Sequence[Path]) -> tuple[Loop, ...]:
    """Read every loop of some folders, one file each; the first that is not sound is refused."""
    loops: list[Loop] = []
    for folder in folders:
        for path in sorted(folder.glob("*.yaml")):
            loop = read_loop(decode_text(read_bounded(path, limit_bytes=_MOST_BYTES)), path.name)
            if loop.id != path.stem:
                raise LoopInvalid(
                    f"{path.name}: id: is {loop.id!r}, and its file is named {path.stem!r}",
                    fix="Name the file after the loop.",
                    file=path.name,
                )
            loops.append(loop)
    return tuple(loops)


def installed_folders(group: str) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Return the folders of loops that installed distributions bring, and what is wrong with any.

    An entry point of the group names a package; every YAML file in its folder is a loop.
    """
    found: list[Path] = []
    problems: list[str] = []
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, point.value)):
        try:
            found.append(package_folder(point.value))
        except CallboardError as error:
            problems.append(f"loops of {point.name} are left out: {error.message}")
    return tuple(found), tuple(problems)


def extend_registry(
    registry: LoopRegistry, folders: Iterable[Path]
) -> tuple[LoopRegistry, tuple[str, ...]]:
    """Add the loops of some folders; one that is not sound, or has a name of another, is left out.

    What is wrong is told by file and field.
    """
    found = list(registry.loops())
    problems: list[str] = []
    for path in (each for folder in folders for each in sorted(folder.glob("*.yaml"))):
        try:
            data = read_bounded(path, limit_bytes=_MOST_BYTES, within=path.parent)
            more = [*found, read_loop(decode_text(data), path.name)]
            registry = LoopRegistry(more)
        except CallboardError as problem:
            problems.append(problem.message)
            continue
        found = more
    return registry, (*problems, *registry.dangling())


def _line(text: str) -> str:
    return " ".join(text.split())


def _plain(text: str) -> list[str]:
    """Return the words of a kind or of a line about it, each without its plural."""
    return [word.casefold().removesuffix("s") for word in text.replace("_", " ").split()]
