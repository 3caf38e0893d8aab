"""The catalogue of actions: what may be asked for, in which modes, with which parameters.

Read from `prompts/actions.yaml` and from the project's own file. A project may add actions for the
generic handlers, never change what comes with the pack. Whatever is wrong in a file is an error
that names the file and the key.
"""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.parsing import FileProblem, decode_text, parse_yaml
from callboard.store.reading import FileRefused, read_bounded

FILE: Final = "actions.yaml"
_LARGEST_BYTES: Final = 1_000_000
ALL: Final = "all"
START_RUN: Final = "start_run"
GENERIC: Final = frozenset({"kb_save", "file_write", "llm_prompt"})

Kind = Literal["string", "integer", "number", "boolean", "array", "object"]


class ActionsInvalid(CallboardError):
    """An actions file cannot be used as it is."""

    code = "actions_invalid"


class _Parameter(BaseModel):
    model_config = ConfigDict(extra="forbid")

    type: Kind = "string"
    required: bool = False
    enum: list[str] | None = None
    about: str = ""


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    modes: Literal["all"] | list[str]
    handler: str
    description: str
    informational: bool = False
    parameters: dict[str, _Parameter] = Field(default_factory=dict[str, _Parameter])
    example: dict[str, Any] | None = None
    run: str = ""
    waits: bool = False
    rename: dict[str, str] = Field(default_factory=dict[str, str])
    fixed: dict[str, Any] = Field(default_factory=dict[str, Any])


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    writer_only: list[str] = Field(default_factory=list[str])
    actions: dict[str, _Entry] = Field(default_factory=dict[str, _Entry])


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One action: who does it, where it is permitted, what it takes."""

    name: str
    handler: str
    description: str
    modes: tuple[str, ...] | None
    schema: Mapping[str, Any]
    is_informational: bool = False
    run: str = ""
    waits: bool = False
    rename: Mapping[str, str] = field(default_factory=dict[str, str])
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
        """Return what may be asked for in a mode, in the order of the file."""
        return tuple(spec for spec in self.actions.values() if spec.is_permitted(mode))

    def check_handlers(self, known: Collection[str]) -> None:
        """Raise if an action names a handler nobody brings."""
        for name, spec in self.actions.items():
            if spec.handler not in known:
                raise ActionsInvalid(
                    f"{spec.origin}: actions.{name}.handler is {spec.handler!r}, which nobody is",
                    fix=f"Handlers: {', '.join(sorted(known))}.",
                    path=spec.origin,
                    key=f"actions.{name}.handler",
                )

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


def load_catalogue(bundled: Path, project: Path | None = None) -> Catalogue:
    """Read the actions of the pack, and those a project adds."""
    own = _read(bundled / FILE)
    actions = {name: _spec(name, entry, FILE) for name, entry in own.actions.items()}
    added = project / FILE if project is not None else None
    if added is not None and os.path.lexists(added):
        shown = f"{added.parent.parent.name}/{added.parent.name}/{FILE}"
        extra = _read(added)
        if extra.writer_only:
            raise _invalid(shown, "writer_only", "only the pack says what is the writer's")
        for name, entry in extra.actions.items():
            if name in actions or name in own.writer_only:
                raise _invalid(shown, f"actions.{name}", "the pack has an action of this name")
            if entry.handler not in GENERIC:
                told = f"a project's action is done by one of {', '.join(sorted(GENERIC))}"
                raise _invalid(shown, f"actions.{name}.handler", told)
            actions[name] = _spec(name, entry, shown)
    return Catalogue(actions, frozenset(own.writer_only))


def _read(path: Path) -> _File:
    try:
        data = read_bounded(path, limit_bytes=_LARGEST_BYTES, within=path.parent)
        return _File.model_validate(parse_yaml(decode_text(data)) or {})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise _invalid(path.name, ".".join(map(str, first["loc"])), first["msg"]) from error
    except FileProblem as problem:
        place = "" if problem.line is None else f", line {problem.line}"
        raise _invalid(path.name, "the file", f"{problem.message}{place}") from problem
    except (OSError, FileRefused) as error:
        raise _invalid(path.name, "the file", str(error)) from error


def _invalid(path: str, key: str, told: str) -> ActionsInvalid:
    return ActionsInvalid(f"{path}: {key}: {told}", fix="Correct the file.", path=path, key=key)


def _spec(name: str, entry: _Entry, origin: str) -> ActionSpec:
    if entry.handler == START_RUN and not entry.run:
        raise _invalid(origin, f"actions.{name}.run", "start_run needs the name of what to start")
    properties = {key: _property(value) for key, value in entry.parameters.items()}
    return ActionSpec(
        name=name,
        handler=entry.handler,
        description=entry.description.strip(),
        modes=None if entry.modes == ALL else tuple(entry.modes),
        # By hand: the parameters of an action are data, in YAML that a project may add to.
        schema={
            "type": "object",
            "properties": properties,
            "required": [key for key, value in entry.parameters.items() if value.required],
        },
        is_informational=entry.informational,
        run=entry.run,
        waits=entry.waits,
        rename=entry.rename,
        fixed=entry.fixed,
        example=entry.example,
        origin=origin,
    )


def _property(parameter: _Parameter) -> dict[str, Any]:
    made: dict[str, Any] = {"type": parameter.type}
    if parameter.enum is not None:
        made["enum"] = parameter.enum
    if parameter.type == "array":
        made["items"] = {"type": "string"}
    if parameter.type == "string" and parameter.required:
        made["minLength"] = 1
    if parameter.about:
        made["description"] = parameter.about
    return made
