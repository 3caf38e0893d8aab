"""The catalogue of actions: read off the operations an agent may cause; adds a project's own.

It says in which modes each may be asked for, and with which parameters. Those of the pack are
declared in the `operations.py` of their nouns, those of a project in its `actions.yaml`. A project
may add actions for the generic handlers, never change what comes with the pack. Whatever is wrong
in its file is an error that names the file and the key.
"""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path
from types import UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.parsing import FileProblem, decode_text, misfit, parse_yaml
from callboard.operations import AGENT, Does, Operation
from callboard.packs.writers_factory.foreman.operations import HANDED
from callboard.packs.writers_factory.model import ARCHITECT, DIRECTOR, EDITOR, VOICE_CALIBRATION
from callboard.store.reading import FileRefused, read_bounded

FILE: Final = "actions.yaml"
CAUSE: Final = "cause"
GENERIC: Final = frozenset({"kb_save", "file_write", "llm_prompt"})
_LARGEST_BYTES: Final = 1_000_000
_ALL: Final = "all"
_ORDER: Final = (ARCHITECT, VOICE_CALIBRATION, DIRECTOR, EDITOR)

Kind = Literal["string", "integer", "number", "boolean", "array", "object"]
_KINDS: Final[Mapping[Any, Kind]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
}


class ActionsInvalid(CallboardError):
    """An actions file cannot be used as it is."""

    code = "actions_invalid"


class _Parameter(BaseModel):
    model_config = ConfigDict(extra="forbid")

    type: Kind = "string"
    required: bool = False
    enum: list[str] | None = None
    about: str = ""

    def schema_of(self) -> dict[str, Any]:
        """Return it as the part of a JSON schema a model is held to."""
        made: dict[str, Any] = {"type": self.type}
        if self.enum is not None:
            made["enum"] = self.enum
        if self.type == "array":
            made["items"] = {"type": "string"}
        if self.type == "string" and self.required:
            made["minLength"] = 1
        if self.about:
            made["description"] = self.about
        return made


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    modes: Literal["all"] | list[str]
    handler: str
    description: str
    informational: bool = False
    parameters: dict[str, _Parameter] = Field(default_factory=dict[str, _Parameter])
    example: dict[str, Any] | None = None
    fixed: dict[str, Any] = Field(default_factory=dict[str, Any])


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    writer_only: list[str] = Field(default_factory=list[str])
    actions: dict[str, _Entry] = Field(default_factory=dict[str, _Entry])


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One action: where it is permitted, what it takes, and which operation it is.

    An action of a project's own has a generic `handler` instead, with values that are `fixed`.
    """

    name: str
    description: str
    modes: tuple[str, ...] | None
    schema: Mapping[str, Any]
    operation: Operation[..., Any] | None = None
    is_informational: bool = False
    handler: str = ""
    fixed: Mapping[str, Json] = field(default_factory=dict[str, Json])
    example: Mapping[str, Json] | None = None
    origin: str = ""

    @property
    def required(self) -> tuple[str, ...]:
        """The parameters that must be there."""
        return tuple(self.schema["required"])

    @property
    def optional(self) -> tuple[str, ...]:
        """The parameters that may be left out."""
        return tuple(name for name in self.schema["properties"] if name not in self.required)

    def is_permitted(self, mode: str) -> bool:
        """Say whether the action may be done in a mode."""
        return self.modes is None or mode in self.modes


@dataclass(frozen=True)
class Catalogue:
    """Every action there is, and the commands no model may give."""

    actions: Mapping[str, ActionSpec]
    writer_only: frozenset[str] = frozenset()

    @cached_property
    def schemas(self) -> dict[str, Mapping[str, Any]]:
        """The JSON schema of each action's parameters, by its name."""
        return {name: spec.schema for name, spec in self.actions.items()}

    def permitted(self, mode: str) -> tuple[ActionSpec, ...]:
        """Return what may be asked for in a mode, in the order of the catalogue."""
        return tuple(spec for spec in self.actions.values() if spec.is_permitted(mode))

    def check_modes(self, known: Collection[str]) -> None:
        """Raise if an action names a mode that does not exist."""
        for name, spec in self.actions.items():
            for mode in spec.modes or ():
                if mode not in known:
                    raise ActionsInvalid(
                        f"{spec.origin}: actions.{name}.modes names {mode!r}, which is no mode",
                        fix=f"Modes: {', '.join(known)}.",
                        path=spec.origin,
                        key=f"actions.{name}.modes",
                    )


def load_catalogue(
    operations: Iterable[Operation[..., Any]], project: Path | None = None
) -> Catalogue:
    """Return the actions of the pack, and those a project adds in its folder of prompts.

    What may always be asked for comes first, then the actions in the order of the modes.
    """
    known = list(operations)
    own = [each for each in known if AGENT in each.who and each.name not in HANDED]
    actions = {each.name: _declared(each) for each in sorted(own, key=_place)}
    writer_only = frozenset(each.name for each in known if AGENT not in each.who)
    added = project / FILE if project is not None else None
    if added is not None and os.path.lexists(added):
        shown = f"{added.parent.parent.name}/{added.parent.name}/{FILE}"
        extra = _read(added)
        if extra.writer_only:
            raise _invalid(shown, "writer_only", "only the pack says what is the writer's")
        for name, entry in extra.actions.items():
            if name in actions or name in writer_only:
                raise _invalid(shown, f"actions.{name}", "the pack has an action of this name")
            if entry.handler not in GENERIC:
                told = f"a project's action is done by one of {', '.join(sorted(GENERIC))}"
                raise _invalid(shown, f"actions.{name}.handler", told)
            actions[name] = _added(name, entry, shown)
    return Catalogue(actions, writer_only)


def _place(operation: Operation[..., Any]) -> int:
    return _ORDER.index(operation.modes[0]) if operation.modes else -1


def _declared(operation: Operation[..., Any]) -> ActionSpec:
    fields = operation.arguments.model_fields.items()
    parameters = {name: _parameter(each) for name, each in fields if name != CAUSE}
    return ActionSpec(
        name=operation.name,
        description=operation.summary,
        modes=operation.modes or None,
        schema=_schema(parameters),
        operation=operation,
        is_informational=operation.does is Does.READS,
        example=operation.example,
        origin=operation.place,
    )


def _parameter(given: Any) -> _Parameter:
    """Return an argument as a model is told it: one of six kinds, perhaps with its choices."""
    kind: Any = given.annotation
    if get_origin(kind) in (Union, UnionType):
        kind = next(each for each in get_args(kind) if each is not type(None))
    choices: list[str] | None = None
    if get_origin(kind) is Literal:
        choices, kind = [str(each) for each in get_args(kind)], str
    elif isinstance(kind, type) and issubclass(kind, Enum):
        choices, kind = [str(each.value) for each in kind], str
    return _Parameter(
        type=_KINDS[get_origin(kind) or kind],
        required=given.is_required(),
        enum=choices,
        about=given.description or "",
    )


def _added(name: str, entry: _Entry, origin: str) -> ActionSpec:
    return ActionSpec(
        name=name,
        description=entry.description.strip(),
        modes=None if entry.modes == _ALL else tuple(entry.modes),
        schema=_schema(entry.parameters),
        is_informational=entry.informational,
        handler=entry.handler,
        fixed=entry.fixed,
        example=entry.example,
        origin=origin,
    )


def _schema(parameters: Mapping[str, _Parameter]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: each.schema_of() for name, each in parameters.items()},
        "required": [name for name, each in parameters.items() if each.required],
    }


def _read(path: Path) -> _File:
    try:
        data = read_bounded(path, limit_bytes=_LARGEST_BYTES, within=path.parent)
        return _File.model_validate(parse_yaml(decode_text(data)) or {})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise _invalid(path.name, ".".join(map(str, first["loc"])), misfit(first)) from error
    except FileProblem as problem:
        place = "" if problem.line is None else f", line {problem.line}"
        raise _invalid(path.name, "the file", f"{problem.message}{place}") from problem
    except (OSError, FileRefused) as error:
        raise _invalid(path.name, "the file", str(error)) from error


def _invalid(path: str, key: str, told: str) -> ActionsInvalid:
    return ActionsInvalid(f"{path}: {key}: {told}", fix="Correct the file.", path=path, key=key)
