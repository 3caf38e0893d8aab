"""From JSON to a recipe: shape, names and the syntax of references. Knows no tools and no staff."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypeVar, cast

from callboard.choreography.recipe.definition.model import (
    AgentStep,
    CheckKind,
    Commit,
    CommitAction,
    CommitMode,
    Recipe,
    RecipeCheck,
    ToolStep,
)
from callboard.choreography.recipe.definition.refs import (
    Ref,
    find_refs,
    is_ref,
    parse_ref,
    read_ref,
)
from callboard.choreography.recipe.errors import Problem, RefSyntaxError, invalid
from callboard.core.canonical import Json

SEVERITIES: Final = ("major", "minor", "info")

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_KEYS: Final = frozenset(
    {"recipe_id", "label", "task_patterns", "phase_a", "phase_b", "commit", "dod"}
)
_TOOL_KEYS: Final = frozenset({"step_id", "tool", "args", "output_slot"})
_AGENT_KEYS: Final = frozenset(
    {"step_id", "agent_archetype", "input_slots", "output_slot", "prompt_type", "reads"}
)
_CHECK_KEYS: Final[dict[CheckKind, frozenset[str]]] = {
    CheckKind.SLOT_NOT_NULL: frozenset({"check", "slot"}),
    CheckKind.SLOT_FIELD_EQUALS: frozenset({"check", "slot", "field", "expected"}),
    CheckKind.FILE_EXISTS: frozenset({"check", "path"}),
    CheckKind.TOOL_PASSES: frozenset({"check", "tool", "args", "field", "expected", "unexpected"}),
}
_COMMIT_KEYS: Final[dict[CommitAction, frozenset[str]]] = {
    CommitAction.WRITE_FILE: frozenset({"action", "slot", "path", "mode", "requires"}),
    CommitAction.CREATE_ISSUES: frozenset({"action", "from", "min_severity"}),
}

E = TypeVar("E", bound=StrEnum)


def read_recipe(text: str, file: str) -> Recipe:
    """Read a recipe from the text of its file; everything wrong with it is told at once."""
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise invalid([Problem(file, "", f"is not JSON: {error}")]) from None
    return recipe_from(data, file)


def recipe_from(data: Json, file: str = "recipe") -> Recipe:
    """Read a recipe from plain data, such as the snapshot a run keeps."""
    reader = _RecipeReader(file)
    recipe = reader.recipe(data)
    if reader.problems or recipe is None:
        raise invalid(reader.problems)
    return recipe


@dataclass(slots=True)
class _RecipeReader:
    """Collects problems while it reads; a value it cannot use becomes an empty one."""

    file: str
    problems: list[Problem] = field(default_factory=list[Problem])

    def recipe(self, data: Json) -> Recipe | None:
        if not isinstance(data, dict):
            self._wrong("", "must be an object")
            return None
        tree = cast(dict[str, Any], data)
        self._only(tree, _KEYS, "")
        self._no_deeper_than(tree)
        return Recipe(
            recipe_id=self._name(tree, "recipe_id", ""),
            label=self._text(tree, "label", ""),
            task_patterns=self._texts(tree, "task_patterns", ""),
            phase_a=tuple(self._tool_step(*each) for each in self._items(tree, "phase_a", True)),
            phase_b=tuple(self._agent_step(*each) for each in self._items(tree, "phase_b", True)),
            commit=tuple(self._commit(*each) for each in self._items(tree, "commit", False)),
            dod=tuple(self._check(*each) for each in self._items(tree, "dod", True)),
            data=tree,
        )

    def _tool_step(self, tree: dict[str, Any], where: str) -> ToolStep:
        self._only(tree, _TOOL_KEYS, where)
        return ToolStep(
            step_id=self._name(tree, "step_id", where),
            tool=self._text(tree, "tool", where),
            output_slot=self._name(tree, "output_slot", where),
            args=self._args(tree, where),
        )

    def _agent_step(self, tree: dict[str, Any], where: str) -> AgentStep:
        self._only(tree, _AGENT_KEYS, where)
        return AgentStep(
            step_id=self._name(tree, "step_id", where),
            agent_archetype=self._text(tree, "agent_archetype", where),
            prompt_type=self._text(tree, "prompt_type", where),
            output_slot=self._name(tree, "output_slot", where),
            input_slots=self._texts(tree, "input_slots", where),
            reads=self._texts(tree, "reads", where) if "reads" in tree else (),
        )

    def _check(self, tree: dict[str, Any], where: str) -> RecipeCheck:
        kind = self._choice(tree, "check", where, CheckKind)
        if kind is None:
            return RecipeCheck(CheckKind.SLOT_NOT_NULL)
        self._only(tree, _CHECK_KEYS[kind], where)
        needs_slot = kind in (CheckKind.SLOT_NOT_NULL, CheckKind.SLOT_FIELD_EQUALS)
        field_path = self._field(tree, kind, where)
        if kind is CheckKind.SLOT_FIELD_EQUALS and "expected" not in tree:
            self._wrong(_at(where, "expected"), "is missing")
        return RecipeCheck(
            kind,
            slot=self._name(tree, "slot", where) if needs_slot else None,
            field_path=field_path,
            expected=tree.get("expected"),
            unexpected=tree.get("unexpected"),
            path=self._path(tree, where) if kind is CheckKind.FILE_EXISTS else None,
            tool=self._text(tree, "tool", where) if kind is CheckKind.TOOL_PASSES else None,
            args=self._args(tree, where),
        )

    def _field(self, tree: dict[str, Any], kind: CheckKind, where: str) -> str | None:
        if kind is CheckKind.SLOT_FIELD_EQUALS or tree.get("field") is not None:
            text = self._text(tree, "field", where)
            self._ref(f"slot.{text}" if text else "slot", _at(where, "field"))
            return text
        return None

    def _commit(self, tree: dict[str, Any], where: str) -> Commit:
        action = self._choice(tree, "action", where, CommitAction)
        if action is None:
            return Commit(CommitAction.CREATE_ISSUES)
        self._only(tree, _COMMIT_KEYS[action], where)
        if action is CommitAction.CREATE_ISSUES:
            return Commit(action, source=self._source(tree, where), min_severity=self._least(tree))
        mode = CommitMode.AUTO
        if "mode" in tree:
            mode = self._choice(tree, "mode", where, CommitMode) or mode
        needed = self._items(tree, "requires", False, where)
        return Commit(
            action,
            slot=self._name(tree, "slot", where),
            path=self._path(tree, where),
            mode=mode,
            requires=tuple(self._condition(*each) for each in needed),
        )

    def _condition(self, tree: dict[str, Any], where: str) -> RecipeCheck:
        check = self._check(tree, where)
        if check.kind is CheckKind.TOOL_PASSES:
            self._wrong(_at(where, "check"), "must not be tool_passes here; use it in dod")
        return check

    def _source(self, tree: dict[str, Any], where: str) -> Ref | None:
        value = tree.get("from")
        if isinstance(value, str):
            return self._ref(value, _at(where, "from"))
        try:
            return read_ref(value) if isinstance(value, dict) else self._no_ref(where)
        except RefSyntaxError as error:
            self._wrong(_at(where, "from"), error.message)
            return None

    def _no_ref(self, where: str) -> None:
        self._wrong(_at(where, "from"), "must name a list of findings, such as slot.findings")

    def _least(self, tree: dict[str, Any]) -> str:
        value = tree.get("min_severity", SEVERITIES[-1])
        if value not in SEVERITIES:
            self._wrong("commit.min_severity", f"is {value!r}; use {', '.join(SEVERITIES)}")
        return str(value)

    def _args(self, tree: dict[str, Any], where: str) -> Mapping[str, Json]:
        value = tree.get("args", {})
        if not isinstance(value, dict):
            self._wrong(_at(where, "args"), "must be an object")
            return {}
        args = cast(dict[str, Any], value)
        self._check_refs(args, _at(where, "args"))
        return args

    def _path(self, tree: dict[str, Any], where: str) -> Json:
        value: Json = tree.get("path")
        if is_ref(value):
            self._check_refs(value, _at(where, "path"))
        elif not isinstance(value, str) or not value.strip():
            self._wrong(_at(where, "path"), "must be a path of the project or a reference")
        return value

    def _check_refs(self, value: Json, where: str) -> None:
        for at, each in find_refs(value, where):
            try:
                read_ref(each)
            except RefSyntaxError as error:
                self._wrong(at, f"{error.message}. {error.fix or ''}".strip())

    def _ref(self, path: str, where: str) -> Ref | None:
        try:
            return parse_ref(path)
        except RefSyntaxError as error:
            self._wrong(where, error.message)
            return None

    def _items(
        self, tree: dict[str, Any], key: str, required: bool, where: str = ""
    ) -> list[tuple[dict[str, Any], str]]:
        value = tree.get(key)
        at = _at(where, key)
        if not isinstance(value, list):
            if required or value is not None:
                self._wrong(at, "must be a list")
            return []
        found: list[tuple[dict[str, Any], str]] = []
        for number, each in enumerate(cast(list[Any], value)):
            if isinstance(each, dict):
                found.append((cast(dict[str, Any], each), f"{at}[{number}]"))
            else:
                self._wrong(f"{at}[{number}]", "must be an object")
        return found

    def _name(self, tree: dict[str, Any], key: str, where: str) -> str:
        value = self._text(tree, key, where)
        if value and not _NAME.fullmatch(value):
            self._wrong(
                _at(where, key), f"is {value[:80]!r}; use letters, digits, '_' and '-', no spaces"
            )
            return ""
        return value

    def _text(self, tree: dict[str, Any], key: str, where: str) -> str:
        value = tree.get(key)
        if not isinstance(value, str) or not value.strip():
            self._wrong(_at(where, key), "is missing" if value is None else "must be a text")
            return ""
        return value

    def _texts(self, tree: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
        value = tree.get(key)
        listed = cast(list[Any], value) if isinstance(value, list) else [None]
        if not all(isinstance(each, str) and each.strip() for each in listed):
            self._wrong(_at(where, key), "must be a list of texts")
            return ()
        return tuple(str(each) for each in listed)

    def _choice(self, tree: dict[str, Any], key: str, where: str, choices: type[E]) -> E | None:
        value = tree.get(key)
        try:
            return choices(str(value))
        except ValueError:
            known = ", ".join(each.value for each in choices)
            self._wrong(_at(where, key), f"is {value!r}; use one of: {known}")
            return None

    def _only(self, tree: dict[str, Any], known: frozenset[str], where: str) -> None:
        for key in tree:
            if key not in known:
                told = f"is not known; known here: {', '.join(sorted(known))}"
                self._wrong(_at(where, key), told)

    def _no_deeper_than(self, tree: dict[str, Any]) -> None:
        try:
            json.dumps(tree, allow_nan=False)
        except (ValueError, TypeError) as error:
            self._wrong("", f"holds something JSON cannot: {error}")

    def _wrong(self, where: str, message: str) -> None:
        self.problems.append(Problem(self.file, where, message))


def _at(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key
