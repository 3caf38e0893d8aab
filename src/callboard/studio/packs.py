"""Packs: domains found by entry point or folder, described by a `pack.yaml`. Data first.

A pack's code is imported when it is first used, never to list what there is. The data can name
only code that lies beside it. Installed packs are looked for once per process.
"""

import importlib
import importlib.util
import sys
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Final, cast

import yaml
from pydantic import ValidationError

from callboard.core.canonical import digest
from callboard.core.errors import CallboardError
from callboard.core.parsing import FileProblem, decode_text, load_yaml, misfits, refuse_traps
from callboard.core.vocabulary import Agent
from callboard.store.reading import read_bounded
from callboard.studio.pack_file import PackFile, RoutesEntry
from callboard.studio.runnable import Choreography, ChoreographySource
from callboard.tools import Tool

GROUP: Final = "callboard.packs"
FILE: Final = "pack.yaml"
_LARGEST_BYTES: Final = 1_000_000


class PackInvalid(CallboardError):
    """A pack cannot be used as it is."""

    code = "pack_invalid"


@dataclass(frozen=True)
class Pack:
    """A domain that has been found; `package` is where it is installed, if it is."""

    root: Path
    described: PackFile
    package: str = ""
    _modules: dict[Path, ModuleType] = field(
        default_factory=dict[Path, ModuleType], repr=False, compare=False
    )
    _loaded: dict[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)

    @property
    def name(self) -> str:
        """How the user names the pack."""
        return self.described.name

    @property
    def title(self) -> str:
        """The pack in a few words."""
        return self.described.title or self.name

    @property
    def prompts(self) -> Path:
        """Where its templates lie."""
        return self.root / self.described.prompts

    @property
    def sample(self) -> Path | None:
        """A project to try it on."""
        return self.root / self.described.sample if self.described.sample else None

    @cached_property
    def agents(self) -> tuple[Agent, ...]:
        """The staff it brings."""
        return tuple(entry.agent() for entry in self.described.agents)

    @property
    def choreographies(self) -> tuple[str, ...]:
        """The names of what can be run."""
        return tuple(self.described.choreographies)

    def choreography(self, name: str) -> Choreography:
        """Load one of its choreographies."""
        return self._load(self.described.choreographies[name], "prepare", "perform", "parameters")

    def shelves(self, studio: Any = None) -> tuple[ChoreographySource, ...]:
        """Open its shelves for a studio; without one they offer what comes with the pack."""
        return tuple(self.shelf(reference, studio) for reference in self.described.shelves)

    def shelf(self, reference: str, studio: Any = None) -> ChoreographySource:
        """Open one of its shelves by the reference that `pack.yaml` has of it."""
        opens = self._load(reference, "__call__")
        try:
            return self._fitting(reference, opens(studio), "names", "find", "resume")
        except CallboardError:
            raise
        except Exception as error:
            raise PackInvalid(f"{reference} of pack {self.name!r} fails: {error!r}") from error

    @property
    def tools(self) -> tuple[str, ...]:
        """The ids of the tools it brings."""
        return tuple(reference.rpartition(":")[2] for reference in self.described.tools)

    def tool(self, tool_id: str) -> Tool:
        """Load one of its tools."""
        reference = self.described.tools[self.tools.index(tool_id)]
        found = self._load(reference)
        if not isinstance(found, Tool):
            raise PackInvalid(
                f"{reference} of pack {self.name!r} is no tool, but {type(found).__name__}",
                fix="Put @tool above the function.",
            )
        if found.id != tool_id:
            raise PackInvalid(
                f"{reference} of pack {self.name!r} is a tool with another id: {found.id!r}",
                fix=f"Give the tool the id {tool_id!r}, or name it {found.id!r} in the file.",
            )
        return found

    def command(self, name: str) -> Any:
        """Load one of its commands, a Typer app."""
        return self._load(self.described.commands[name].app)

    def routers(self, entry: RoutesEntry) -> tuple[Any, ...]:
        """Load the routers of one entry."""
        found: Any = self._load(entry.router)
        return cast(tuple[Any, ...], found) if isinstance(found, tuple) else (found,)

    def operation_modules(self) -> tuple[ModuleType, ...]:
        """Load the modules that declare its operations."""
        entry = self.described.operations
        named = () if entry is None else entry.modules
        return tuple(self._module((self.root / each).resolve()) for each in named)

    def finder(self) -> Any:
        """Load what finds the things its operations work on."""
        entry = self.described.operations
        if entry is None:
            raise PackInvalid(f"Pack {self.name!r} declares no operations")
        return self._load(entry.find)

    def page(self) -> Any:
        """Load what builds its page."""
        if self.described.page is None:
            raise PackInvalid(f"Pack {self.name!r} has no page")
        return self._load(self.described.page.show, "__call__")

    def hook(self, name: str) -> Any:
        """Load what it does at a moment the runtime knows; None if it does nothing then."""
        reference: str | None = getattr(self.described.hooks, name)
        return None if reference is None else self._load(reference)

    def _load(self, reference: str, *needed: str) -> Any:
        if reference not in self._loaded:
            self._loaded[reference] = self._find(reference)
        return self._fitting(reference, self._loaded[reference], *needed)

    def _fitting(self, reference: str, found: Any, *needed: str) -> Any:
        """Refuse what lacks what it is used by: a wrong name in `pack.yaml` is told as one."""
        missing = [name for name in needed if not hasattr(found, name)]
        if missing:
            kind = type(found).__name__
            raise PackInvalid(
                f"{reference} of pack {self.name!r} is {kind}, without {missing[0]}",
                fix=f"Correct {self.root / FILE}.",
            )
        return found

    def _find(self, reference: str) -> Any:
        file_name, _, attribute = reference.partition(":")
        path = (self.root / file_name).resolve()
        if not path.is_relative_to(self.root.resolve()) or path.suffix != ".py":
            raise PackInvalid(
                f"Pack {self.name!r} names code outside of itself: {reference!r}",
                fix="Write it as file.py:name, with the file inside the pack's folder.",
            )
        module = self._module(path)
        try:
            return getattr(module, attribute)
        except AttributeError as error:
            raise PackInvalid(
                f"{file_name} of pack {self.name!r} has no {attribute!r}",
                fix=f"Correct {self.root / FILE}.",
            ) from error

    def _module(self, path: Path) -> ModuleType:
        known = self._modules.get(path)
        if known is not None:
            return known
        if not path.is_file():
            inside = path.relative_to(self.root.resolve())
            raise PackInvalid(
                f"Pack {self.name!r} has no file {inside}", fix=f"Correct {self.root / FILE}."
            )
        try:
            module = self._imported(path) if self.package else self._executed(path)
        # A script that ends itself while it is imported ends nobody else.
        except (Exception, SystemExit) as error:
            raise PackInvalid(
                f"{path.name} of pack {self.name!r} cannot be loaded: {error!r}",
                fix="Run the file with Python to see the whole error.",
                type=type(error).__name__,
            ) from error
        self._modules[path] = module
        return module

    def _imported(self, path: Path) -> ModuleType:
        parts = path.relative_to(self.root.resolve()).with_suffix("").parts
        named = ".".join(part for part in parts if part != "__init__")
        return importlib.import_module(f"{self.package}.{named}" if named else self.package)

    def _executed(self, path: Path) -> ModuleType:
        # The folder's hash keeps two packs of one name apart.
        name = f"callboard_pack_{self.name}_{digest(str(path))[:12]}_{path.stem}"
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} is no Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        return module


def load_pack(root: Path, package: str = "") -> Pack:
    """Read the pack in a folder; `package` is its name for the interpreter, if it is installed."""
    path = root / FILE
    try:
        described = _described(read_bounded(path, limit_bytes=_LARGEST_BYTES))
        return Pack(root.resolve(), described, package)
    except FileNotFoundError as error:
        raise PackInvalid(f"{root} is not a pack: it has no {FILE}") from error
    except FileProblem as problem:
        raise PackInvalid(problem.at(path), fix="Correct the file.") from problem
    except ValidationError as error:
        told = misfits(error, "the file")
        raise PackInvalid(f"{path}: {told}", fix="Correct the named keys.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise PackInvalid(f"{path} is not readable YAML: {error}") from error


@lru_cache(maxsize=64)
def _described(data: bytes) -> PackFile:
    # By content: a changed file is always read anew, and the code beside it belongs to no cache.
    text = decode_text(data)
    refuse_traps(text, with_aliases=True)
    return PackFile.model_validate(load_yaml(text))


@dataclass(frozen=True, slots=True)
class Discovery:
    """The packs of installed distributions, and what is wrong with those that were left out."""

    packs: tuple[Pack, ...]
    problems: tuple[str, ...] = ()


@cache
def discover() -> Discovery:
    """Find the packs of installed distributions, without importing them; once per process.

    One that cannot be used is named and left out: it must not keep the others from working.
    """
    found: dict[str, Pack] = {}
    problems: list[str] = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            pack = load_pack(package_folder(point.value), point.value)
        except CallboardError as error:
            problems.append(f"pack {point.name} is left out: {error.message}")
            continue
        if pack.name in found:
            kept = found[pack.name].package
            problems.append(f"pack {pack.name} of {pack.package} is left out: {kept} has the name")
        else:
            found[pack.name] = pack
    return Discovery(tuple(found.values()), tuple(problems))


def package_folder(package: str) -> Path:
    """Return where an installed package lies, without importing it; its parents may be."""
    try:
        spec = importlib.util.find_spec(package)
    # To find a package inside of another, the other one is imported, and may raise anything.
    except Exception as error:
        raise PackInvalid(f"package {package} cannot be looked for: {error!r}") from error
    if spec is None or not spec.submodule_search_locations:
        raise PackInvalid(
            f"there is no package {package}", fix="Install it again, or remove its distribution."
        )
    return Path(spec.submodule_search_locations[0])


def installed_packs() -> tuple[Pack, ...]:
    """Return the packs of installed distributions that can be used."""
    return discover().packs
