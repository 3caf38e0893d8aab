"""The office's router: show, add and delete what has a noun; everything else is left to a model."""

import re
from typing import Any, Final

from callboard.choreography.turn.domain import Asked, Routed, Subdomain
from callboard.choreography.turn.requests import Filter, ReadRequest, WriteRequest
from callboard.choreography.turn.shapes import StepType, ThinkStep
from callboard.library.relational.names import name_key

_LABELS: Final = {"documents": "name", "contacts": "name", "tasks": "description"}
_SHOW: Final = re.compile(
    r"(?:show|list|what are|see)(?: me)?(?: all)?(?: of)?(?: my| the| our)? (?P<noun>[\w-]+)", re.I
)
_ADD: Final = re.compile(
    r"(?:add|create|new)(?: an?| the)?(?: new)? (?P<noun>[\w-]+)(?: called| named|:)? (?P<name>.+)",
    re.I | re.S,
)
_REMIND: Final = re.compile(r"remind me to (?P<name>.+)", re.I | re.S)
_DELETE_ALL: Final = re.compile(
    r"(?:delete|remove) all(?: of)?(?: my| the)? (?P<noun>[\w-]+)", re.I
)
_DELETE: Final = re.compile(
    r"(?:delete|remove)(?: my| the)? (?P<noun>[\w-]+)(?: called| named|:)? (?P<name>.+)",
    re.I | re.S,
)
_TEAM: Final = re.compile(
    r"(?:who (?:is|works) on|(?:show |list )?the team of)(?: the)? (?P<project>.+?)(?: project)?",
    re.I | re.S,
)


def route_office(asked: Asked, parts: tuple[Subdomain, ...]) -> Routed | None:
    """Return what a message plainly asks for, or None."""
    text = asked.message.strip().rstrip(".!?").strip()
    team = _TEAM.fullmatch(text)
    if team is not None:
        return _team(team["project"].strip())
    for pattern, make in ((_SHOW, _show), (_DELETE_ALL, _clear), (_DELETE, _delete), (_ADD, _add)):
        found = pattern.fullmatch(text)
        part = None if found is None else _part(found["noun"], parts)
        if found is not None and part is not None:
            return make(part, found.groupdict().get("name") or "")
    remind = _REMIND.fullmatch(text)
    if remind is not None:
        calendar = next(each for each in parts if each.name == "calendar")
        return _add(calendar, remind["name"])
    return None


def _part(noun: str, parts: tuple[Subdomain, ...]) -> Subdomain | None:
    key = name_key(noun)
    return next((p for p in parts if key in {name_key(each) for each in p.nouns}), None)


def _show(part: Subdomain, _name: str) -> Routed:
    query = ReadRequest(table=part.tables[0])
    return _one(part, StepType.READ, f"Show {part.tables[0]}", query=query)


def _add(part: Subdomain, name: str) -> Routed:
    table = part.tables[0]
    record = {_LABELS[table]: name.strip().strip("\"'")}
    write = WriteRequest.model_validate({"op": "create", "table": table, "records": [record]})
    return _one(part, StepType.WRITE, f"Add to {table}", write=write)


def _delete(part: Subdomain, name: str) -> Routed:
    wanted = name.strip().strip("\"'")
    condition: Any = {"field": _LABELS[part.tables[0]], "op": "eq", "value": wanted}
    return _removal(part, [condition])


def _clear(part: Subdomain, _name: str) -> Routed:
    condition: Any = {"not": {"field": _LABELS[part.tables[0]], "op": "is", "value": None}}
    return _removal(part, [condition])


def _removal(part: Subdomain, filters: list[Filter]) -> Routed:
    table = part.tables[0]
    write = WriteRequest.model_validate({"op": "delete", "table": table, "filters": filters})
    return _one(part, StepType.WRITE, f"Take out {table}", write=write)


def _team(project: str) -> Routed:
    """A project stands for the people who work on it."""
    query = ReadRequest.model_validate(
        {"table": "contacts", "filters": [{"field": "projects", "op": "cs", "value": [project]}]}
    )
    step = ThinkStep(
        description=f"Show who works on {project}",
        step_type=StepType.READ,
        subdomain="communications",
        query=query,
    )
    return Routed(steps=(step,), goal=step.description)


def _one(part: Subdomain, kind: StepType, what: str, **request: Any) -> Routed:
    step = ThinkStep(description=what, step_type=kind, subdomain=part.name, **request)
    return Routed(steps=(step,), goal=what)
