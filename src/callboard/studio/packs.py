"""Packs: domains found by entry point or folder, described by a `pack.yaml`. Data first.

A pack's code is imported when it is first used, never to list what there is. The data can name
only code that lies beside it. Installed packs are looked for once per process.
"""

import importlib
import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Final, cast

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from callboard.core.canonical import digest
from callboard.core.errors import CallboardError, NotFound
from callboard.core.parsing import FileProblem, decode_text, load_yaml, refuse_traps
from callboard.core.vocabulary import Agent, ModelTier, RoleContract
from callboard.store.reading import read_bounded
from callboard.store.records import Records
from callboard.studio.doors import (
    NAME,
    CommandEntry,
    HookEntries,
    PageEntry,
    RoutesEntry,
    TraceEntries,
)
from callboard.studio.offers import Choreography, Shelf
from callboard.tools import Tool

GROUP: Final = "callboard.packs"
FILE: Final = "pack.yaml"
_LARGEST_BYTES: Final = 1_000_000


class PackInvalid(CallboardError):
    """A pack cannot be used as it is."""

    code = "pack_invalid"


def _tier_of(value: object) -> object:
    """Read a number as a tier: 1 and 2 are minimal, 3 and 4 medium, more is full."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        return value
    if value <= 2:
        return ModelTier.MINIMAL
    return ModelTier.MEDIUM if value <= 4 else ModelTier.FULL


class AgentEntry(BaseModel):
    """An agent as a file describes it."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")
    archetype: str | None = None
    name: str = ""
    owns: str = ""
    must_not: str = ""
    abstains_when: str = ""
    prompt: str = ""
    tier: Annotated[ModelTier | None, BeforeValidator(_tier_of)] = None
    model: str | None = None
    tools: list[str] = Field(default_factory=list[str])
    enabled: bool = True
    order: int = 0

    def agent(self) -> Agent:
        """Return the agent this entry describes."""
        contract = RoleContract(
            self.archetype or self.id, self.owns, self.must_not, self.abstains_when
        )
        return Agent(
            id=self.id,
            contract=contract,
            name=self.name or self.id,
            prompt=self.prompt,
            tier=self.tier,
            model=self.model,
            tools=frozenset(self.tools),
            enabled=self.enabled,
            order=self.order,
        )


def _tool_reference(value: str) -> str:
    """Refuse what does not tell the tool's id: a tool is known before its code is loaded."""
    if not value.rpartition(":")[2] or ":" not in value:
        raise ValueError(f"{value!r} must be written as file.py:name, with the id of the tool")
    return value


class _PackFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(pattern=NAME)
    title: str = ""
    description: str = ""
    agents: list[AgentEntry] = Field(default_factory=list[AgentEntry])
    choreographies: dict[str, str] = Field(default_factory=dict[str, str])
    shelves: list[str] = Field(default_factory=list[str])
    tools: list[Annotated[str, AfterValidator(_tool_reference)]] = Field(default_factory=list[str])
    prompts: str = "prompts"
    sample: str | None = None
    # What somebody with a new project of this pack may try first.
    begin: str = ""
    commands: dict[Annotated[str, Field(pattern=NAME)], CommandEntry] = Field(
        default_factory=dict[str, CommandEntry]
    )
    routes: list[RoutesEntry] = Field(default_factory=list[RoutesEntry])
    page: PageEntry | None = None
    hooks: HookEntries = HookEntries()
    traces: TraceEntries = TraceEntries()


@dataclass(frozen=True)
class Pack:
    """A domain that has been found; `package` is where it is installed, if it is."""

    root: Path
    described: _PackFile
    package: str = ""
    _modules: dict[Path, ModuleType] = field(default_factory=dict[Path, ModuleType], repr=False)
    _loaded: dict[str, Any] = field(default_factory=dict[str, Any], repr=False)

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
        return self._load(self.described.choreographies[name])

    def shelves(self, studio: Any = None) -> tuple[Shelf, ...]:
        """Open its shelves for a studio; without one they offer what comes with the pack."""
        return tuple(self._load(reference)(studio) for reference in self.described.shelves)

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

    def page(self) -> Any:
        """Load what builds its page."""
        if self.described.page is None:
            raise PackInvalid(f"Pack {self.name!r} has no page")
        return self._load(self.described.page.show)

    def hook(self, name: str) -> Any:
        """Load what it does at a moment the runtime knows; None if it does nothing then."""
        reference: str | None = getattr(self.described.hooks, name)
        return None if reference is None else self._load(reference)

    def _load(self, reference: str) -> Any:
        if reference not in self._loaded:
            self._loaded[reference] = self._find(reference)
        return self._loaded[reference]

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
        except Exception as error:
            raise PackInvalid(
                f"{path.name} of pack {self.name!r} cannot be loaded: {error}",
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
        except Exception:
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
        told = "; ".join(
            f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
            for problem in error.errors(include_url=False)
        )
        raise PackInvalid(f"{path}: {told}", fix="Correct the named keys.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise PackInvalid(f"{path} is not readable YAML: {error}") from error


@lru_cache(maxsize=64)
def _described(data: bytes) -> _PackFile:
    # By content: a changed file is always read anew, and the code beside it belongs to no cache.
    text = decode_text(data)
    refuse_traps(text, with_aliases=True)
    return _PackFile.model_validate(load_yaml(text))


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
            pack = _installed(point.value)
        except CallboardError as error:
            problems.append(f"pack {point.name} is left out: {error.message}")
            continue
        if pack.name in found:
            kept = found[pack.name].package
            problems.append(f"pack {pack.name} of {pack.package} is left out: {kept} has the name")
        else:
            found[pack.name] = pack
    return Discovery(tuple(found.values()), tuple(problems))


def _installed(package: str) -> Pack:
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise PackInvalid(
            f"there is no package {package}", fix="Install it again, or remove its distribution."
        )
    return load_pack(Path(spec.submodule_search_locations[0]), package)


def installed_packs() -> tuple[Pack, ...]:
    """Return the packs of installed distributions that can be used."""
    return discover().packs


def in_order(given: tuple[Pack, ...], installed: tuple[Pack, ...], own: str) -> tuple[Pack, ...]:
    """Return the user's packs, then the one the project is for, then all others."""
    return (*given, *sorted(installed, key=lambda pack: pack.name != own))


class Repertoire:
    """Everything the packs of a studio offer. A pack's own agents come before another's."""

    def __init__(
        self,
        packs: tuple[Pack, ...],
        overrides: Mapping[str, Agent],
        studio: Any = None,
        *,
        near: frozenset[str] = frozenset(),
        own: str = "",
    ) -> None:
        """Take the packs, the user's first, the project's own words on agents, and the studio.

        A bare name means what a `near` pack offers; among others it must be the only one.
        """
        self.packs = packs
        self._own = own
        self._near = near
        self._overrides = dict(overrides)
        self._studio = studio
        self._homes: dict[str, Pack] = {}
        # A pack's shelves are opened when a name is asked for that no pack lists.
        self._shelves: dict[str, tuple[Shelf, ...]] = {}
        self._ambiguous: dict[str, list[str]] = {}
        for pack in packs:
            for name in pack.choreographies:
                home = self._homes.setdefault(name, pack)
                if home is not pack and home.name not in near:
                    self._ambiguous.setdefault(name, [f"{home.name}/{name}"])
                    self._ambiguous[name].append(f"{pack.name}/{name}")
                self._homes.setdefault(f"{pack.name}/{name}", pack)

    def own(self) -> tuple[Pack, ...]:
        """Return the pack the project is for, if it is here."""
        return tuple(pack for pack in self.packs if pack.name == self._own)[:1]

    def used(self) -> tuple[Pack, ...]:
        """Return the pack the project is for, and those it has something of."""
        own = self.own()
        return (*own, *(pack for pack in self.packs if pack not in own and self._has(pack)))

    def _has(self, pack: Pack) -> bool:
        traces, studio = pack.described.traces, self._studio
        if studio is None:
            return False
        if any((studio.project.folder / name).exists() for name in traces.files):
            return True
        records = Records(studio.database, pack.name, studio.clock)
        return any(records.all(kind) for kind in traces.records)

    @property
    def archetypes(self) -> frozenset[str]:
        """Every role somebody could play, whether that agent is enabled or not."""
        staff = [agent for pack in self.packs for agent in pack.agents]
        return frozenset(a.contract.archetype for a in (*staff, *self._overrides.values()))

    def shelves(self, pack: Pack) -> tuple[Shelf, ...]:
        """Return a pack's shelves, opened once."""
        if pack.name not in self._shelves:
            self._shelves[pack.name] = pack.shelves(self._studio)
        return self._shelves[pack.name]

    def agents(self, pack: str = "") -> tuple[Agent, ...]:
        """Return the enabled staff in order; of agents with one id the given pack's counts."""
        near = [each for each in self.packs if each.name == pack]
        far = [each for each in self.packs if each.name != pack]
        staff: dict[str, Agent] = {}
        for each in (*near, *far):
            for agent in each.agents:
                staff.setdefault(agent.id, agent)
        staff.update(self._overrides)
        enabled = (agent for agent in staff.values() if agent.enabled)
        return tuple(sorted(enabled, key=lambda agent: (agent.order, agent.id)))

    def staff(self, pack: str) -> tuple[Agent, ...]:
        """Return the enabled agents of one pack and of the project, in order; nobody else's."""
        own = {agent.id for each in self.packs if each.name == pack for agent in each.agents}
        others = {agent.id for each in self.packs for agent in each.agents} - own
        return tuple(agent for agent in self.agents(pack) if agent.id not in others)

    def agent(self, agent_id: str, pack: str = "") -> Agent:
        """Return an agent by id, or the first of that archetype, as a pack sees it."""
        staff = self.agents(pack)
        for agent in staff:
            if agent.id == agent_id:
                return agent
        for agent in staff:
            if agent.contract.archetype == agent_id:
                return agent
        names = ", ".join(agent.id for agent in staff) or "none"
        raise NotFound(
            f"There is no agent {agent_id!r}", fix=f"Agents here: {names}.", agent=agent_id
        )

    def choreographies(self) -> tuple[str, ...]:
        """Return what can be run, each under its full name."""
        listed = {name for name in self._homes if "/" in name}
        shelved = {
            f"{pack.name}/{name}"
            for pack in self.packs
            for shelf in self.shelves(pack)
            for name in shelf.names()
        }
        return tuple(sorted(listed | shelved))

    def full_name(self, name: str) -> str:
        """Return `pack/name` for a name the user typed."""
        if name in self._ambiguous:
            meant = " or ".join(self._ambiguous[name])
            raise NotFound(
                f"{name!r} could be {meant}", fix="Say it with its pack.", choreography=name
            )
        home = self._homes.get(name)
        if home is not None:
            return name if "/" in name else f"{home.name}/{name}"
        return self._shelved(name)[0]

    def choreography(self, name: str) -> Choreography:
        """Load a choreography by name."""
        home = self._homes.get(name)
        if home is not None:
            return home.choreography(name.rpartition("/")[2])
        return self._shelved(name)[1]

    def performer(self, name: str) -> Choreography:
        """Load what executes runs of a full name, also if it is no longer offered."""
        if name not in self._homes:
            for pack, short in self._candidates(name):
                for shelf in self.shelves(pack):
                    if (found := shelf.resume(short)) is not None:
                        return found
        return self.choreography(name)

    def _shelved(self, name: str) -> tuple[str, Choreography]:
        for pack, short in self._candidates(name):
            for shelf in self.shelves(pack):
                if (found := shelf.find(short)) is not None:
                    return f"{pack.name}/{short}", found
        known = ", ".join(self.choreographies()) or "none"
        raise NotFound(
            f"There is no choreography {name!r}",
            fix=f"Known: {known}. A pack of your own is added with --pack FOLDER.",
            choreography=name,
        )

    def _candidates(self, name: str) -> list[tuple[Pack, str]]:
        """Return the packs in which a name may be found, with the name it has there."""
        home, slash, short = name.rpartition("/")
        return [(pack, short) for pack in self.packs if not slash or pack.name == home]
