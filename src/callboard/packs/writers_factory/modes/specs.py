"""The modes as data, read from `prompts/modes.yaml`, and what can keep a book from entering one."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from callboard.core.canonical import Json
from callboard.core.errors import Conflict, InvalidInput, NotFound
from callboard.core.parsing import FileProblem, misfit
from callboard.studio.settings_files import (
    FileContent,
    parse_settings_file,
    read_settings_file,
)


class ModesInvalid(InvalidInput):
    """The file of modes cannot be used; the message names the file and the key."""

    code = "modes_invalid"


class ModeUnknown(NotFound):
    """There is no mode of that name."""

    code = "unknown_mode"


class ModeGated(Conflict):
    """A gate is not met; every unmet item is named."""

    code = "mode_gated"

    def __init__(self, to: str, unmet: tuple[str, ...], *, fix: str) -> None:
        """Take the mode that was asked for and everything that is missing."""
        told = "; ".join(unmet)
        super().__init__(f"{to} is not open yet: {told}", fix=fix, to=to, unmet=list(unmet))
        self.unmet = unmet


class WritersDecision(Conflict):
    """Only the writer may do this; an agent asked for it."""

    code = "writer_only"


FILE: Final = "modes.yaml"
_PROMPTS: Final = "prompts"


class _StrictSpec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Sections(_StrictSpec):
    always: list[str] = Field(default_factory=list[str])
    if_relevant: list[str] = Field(default_factory=list[str])
    never: list[str] = Field(default_factory=list[str])


class _ModeEntry(_StrictSpec):
    title: str = ""
    order: int
    file: str
    sections: _Sections = Field(default_factory=_Sections)
    gate: list[str] = Field(default_factory=list[str])
    completion: str
    on_enter: list[str] = Field(default_factory=list[str])
    opens_with: str = ""


@dataclass(frozen=True, slots=True)
class FactoryMode:
    """One mode: where it stands, what it shows, what it asks for before the next."""

    id: str
    title: str
    order: int
    file: str
    always: tuple[str, ...]
    if_relevant: tuple[str, ...]
    never: tuple[str, ...]
    gate: tuple[str, ...]
    completion: str
    on_enter: tuple[str, ...]
    opens_with: str
    # The file it is declared in.
    origin: str


@dataclass(frozen=True)
class ModeTable:
    """Every mode, in order."""

    modes: tuple[FactoryMode, ...]

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The names of the modes, in order."""
        return tuple(mode.id for mode in self.modes)

    @property
    def first(self) -> FactoryMode:
        """Where every book begins."""
        return self.modes[0]

    @property
    def last(self) -> FactoryMode:
        """Where every book ends."""
        return self.modes[-1]

    def get(self, name: str) -> FactoryMode:
        """Return a mode by its name, however it is written."""
        plain = "_".join(name.replace("-", " ").replace("_", " ").upper().split())
        for mode in self.modes:
            if mode.id == plain:
                return mode
        raise ModeUnknown(f"There is no mode {name!r}", fix=f"Modes: {', '.join(self.ids)}.")

    def before(self, mode: FactoryMode) -> tuple[FactoryMode, ...]:
        """Return the modes that come before one."""
        return self.modes[: self.modes.index(mode)]

    def after(self, mode: FactoryMode) -> FactoryMode | None:
        """Return the mode that follows one."""
        place = self.modes.index(mode) + 1
        return self.modes[place] if place < len(self.modes) else None


@dataclass(frozen=True, slots=True)
class KnownNames:
    """What a file of modes may name: what code can compute and do."""

    predicates: Collection[str]
    measures: Collection[str]
    effects: Collection[str]


def load_modes(known: KnownNames, project_prompts: Path | None = None) -> ModeTable:
    """Read the modes of the pack and those of a project over them; refuse unknown names."""
    bundled = files("callboard.packs.writers_factory").joinpath(_PROMPTS, FILE)
    with as_file(bundled) as path:
        entries = dict(_entries(read_settings_file(path), f"{_PROMPTS}/{FILE}"))
    if project_prompts is not None:
        shown = f"{project_prompts.parent.name}/{project_prompts.name}/{FILE}"
        own = _entries(read_settings_file(project_prompts / FILE, project_prompts), shown)
        entries |= {name: _over(entries.get(name), told) for name, told in own.items()}
    modes = tuple(sorted((_spec(*each) for each in entries.items()), key=lambda mode: mode.order))
    for mode in modes:
        _check_names(mode, known)
    _check_order(modes)
    return ModeTable(modes)


@cache
def _entries(content: FileContent, shown: str) -> dict[str, tuple[str, Json]]:
    try:
        held = parse_settings_file(content)
    except FileProblem as problem:
        place = "" if problem.line is None else f", line {problem.line}"
        raise _invalid(shown, "the file", f"{problem.message}{place}") from problem
    unknown = sorted(set(held) - {"modes"})
    if unknown:
        raise _invalid(shown, str(unknown[0]), "is no key of this file; it has `modes`")
    modes: Json = held.get("modes") or {}
    if not isinstance(modes, Mapping):
        raise _invalid(shown, "modes", "holds no modes (name: description)")
    told = cast("Mapping[str, Json]", modes)
    return {str(name).upper(): (shown, entry) for name, entry in told.items()}


def _over(bundled: tuple[str, Json] | None, own: tuple[str, Json]) -> tuple[str, Json]:
    shown, entry = own
    if bundled is None or not isinstance(entry, Mapping):
        return own
    return shown, {**bundled[1], **cast("Mapping[str, Json]", entry)}


def _spec(name: str, told: tuple[str, Json]) -> FactoryMode:
    shown, raw = told
    try:
        entry = _ModeEntry.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(("modes", name, *map(str, first["loc"])))
        raise _invalid(shown, key, misfit(first)) from None
    return FactoryMode(
        id=name,
        title=entry.title or name.replace("_", " ").title(),
        order=entry.order,
        file=entry.file,
        always=tuple(entry.sections.always),
        if_relevant=tuple(entry.sections.if_relevant),
        never=tuple(entry.sections.never),
        gate=tuple(entry.gate),
        completion=entry.completion,
        on_enter=tuple(entry.on_enter),
        opens_with=entry.opens_with,
        origin=shown,
    )


def _check_names(mode: FactoryMode, known: KnownNames) -> None:
    named = (
        ("gate", mode.gate, known.predicates, "predicate"),
        ("completion", (mode.completion,), known.measures, "measure"),
        ("on_enter", mode.on_enter, known.effects, "effect"),
    )
    for key, names, allowed, kind in named:
        for name in names:
            if name not in allowed:
                told = f"{name!r} is no {kind}; there are {', '.join(sorted(allowed))}"
                raise _invalid(mode.origin, f"modes.{mode.id}.{key}", told)


def _check_order(modes: tuple[FactoryMode, ...]) -> None:
    seen: dict[int, FactoryMode] = {}
    for mode in modes:
        twin = seen.setdefault(mode.order, mode)
        if twin is not mode:
            told = f"{mode.order} is also the place of {twin.id}"
            raise _invalid(mode.origin, f"modes.{mode.id}.order", told)


def _invalid(shown: str, key: str, told: str) -> ModesInvalid:
    return ModesInvalid(f"{shown}: {key}: {told}", fix="Correct the file.", path=shown, key=key)
