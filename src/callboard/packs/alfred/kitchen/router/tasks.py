"""Tasks: what somebody wants to be reminded of, and when."""

import re
from typing import Any, Final

from callboard.choreography.turn.domain import Routed, Row
from callboard.packs.alfred.kitchen.lexicon import food_facts
from callboard.packs.alfred.kitchen.router.situation import Situation, among, same
from callboard.packs.alfred.kitchen.router.words.dates import find_when
from callboard.packs.alfred.kitchen.router.words.lexicon import kinds
from callboard.packs.alfred.kitchen.router.words.targets import WHOLE

_REMIND: Final = re.compile(
    r"^(?:remind me|set a reminder|set me a reminder|don't let me forget)\s+(?:to\s+|about\s+"
    r"|that\s+)?(?P<what>.+)$"
    r"|^(?:add|create|make|new)\s+(?:a |an )?(?:new )?(?:task|reminder|to-?do)(?:\s+to|:|"
    r"\s+called|\s+for me to)?\s+(?P<task>.+)$",
    re.I | re.S,
)
_DELETE: Final = re.compile(
    r"^(?:delete|remove|cancel|forget)\s+(?:the\s+|my\s+)?(?:task|reminder|to-?do)(?:\s+(?:to"
    r"|called|about))?:?\s+(?P<what>.+)$",
    re.I | re.S,
)
_DONE: Final = re.compile(
    r"^(?:i(?:'ve| have)? )?(?:done with|finished|completed|did)\s+(?:the\s+)?(?:task\s+)?"
    r"(?P<what>.+)$",
    re.I | re.S,
)


async def route_tasks(situation: Situation) -> Routed | None:
    """Route reminders and what becomes of them."""
    found = _REMIND.match(situation.text)
    if found is not None:
        return _remind(situation, (found["what"] or found["task"]).strip())
    deleted = _DELETE.match(situation.text)
    if deleted is not None:
        task = await find_task(situation, deleted["what"])
        return None if task is None else _change(situation, task, delete=True)
    done = _DONE.match(situation.text)
    # Who finished the milk has drunk it, whatever there is to do about milk.
    if done is not None and not food_facts(done["what"]).is_food:
        task = await find_task(situation, done["what"])
        return None if task is None else _change(situation, task, delete=False)
    return None


async def find_task(situation: Situation, text: str) -> Row | None:
    """Return the one open task a text means."""
    name = text.strip(" \"'“”.")
    plain = name.replace("%", "").replace("*", "")
    if not plain:
        return None
    is_open = among("status", ["open"])
    exact = await situation.rows(
        table="tasks", filters=[same("description", name), is_open], limit=2
    )
    if len(exact) == 1:
        return exact[0]
    near = {"field": "description", "op": "ilike", "value": f"%{plain}%"}
    rows = await situation.rows(table="tasks", filters=[near, is_open], limit=2)
    return rows[0] if len(rows) == 1 else None


def _remind(situation: Situation, text: str) -> Routed | None:
    when = find_when(text, situation.today)
    described = (when.rest if when else text).strip(" .,;:")
    description = re.sub(r"^(?:to|that i|that we)\s+", "", described, flags=re.I).strip()
    if not description or description in ("to", "about", "that") or WHOLE.match(description):
        return None
    record: dict[str, Any] = {"description": description, "kind": _kind(description)}
    assumptions: tuple[str, ...] = ()
    if when is not None:
        record["due_at"] = when.at
        if not when.has_time:
            assumptions = ("No time of day was said, so one was picked",)
    steps = situation.steps
    what = f"Add a task: {description}"
    steps.write(what, "tasks", op="create", table="tasks", records=[record])
    return Routed(steps=tuple(steps.made), goal=what, assumptions=assumptions)


def _kind(description: str) -> str:
    first = description.casefold()
    for word, kind in kinds("task_kinds").items():
        if re.match(rf"{re.escape(word)}\b", first):
            return kind
    return "other"


def _change(situation: Situation, task: Row, *, delete: bool) -> Routed:
    steps = situation.steps
    filters = [same("id", task["id"])]
    if delete:
        what = f"Remove the task {task['description']}"
        steps.write(what, "tasks", op="delete", table="tasks", filters=filters)
    else:
        what = f"Mark {task['description']} as done"
        steps.write(
            what, "tasks", op="update", table="tasks", filters=filters, set={"status": "done"}
        )
    return Routed(steps=tuple(steps.made), goal=what)
