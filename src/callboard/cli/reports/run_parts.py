"""Slots and events of a run, as read from the journal, up to now or until it is over."""

import json
import time
from collections.abc import Iterator
from typing import Any, Final, cast

from callboard.cli.output import (
    echo,
    echo_json,
    echo_json_line,
    echo_table,
    echo_text,
    moment,
    remark,
)
from callboard.cli.reading import OpenJournal
from callboard.cli.views.lines import describe
from callboard.core.canonical import Json
from callboard.core.errors import NotFound
from callboard.core.events import Event
from callboard.core.vocabulary.run import RunRecord, StepRecord, StepState
from callboard.store.connection import Connection
from callboard.store.journal.events import read_events
from callboard.store.journal.runs import load_run
from callboard.store.journal.steps import load_journal, with_output

_MADE: Final = frozenset(("prompt_id", "agent_id"))


def slots_report(journal: OpenJournal, run: RunRecord, *, as_json: bool) -> None:
    """List the slots of a run."""
    slots = journal.read(lambda connection: _slots(connection, run))
    if as_json:
        echo_json({"run_id": run.id, "slots": [_shape(step) for step in slots.values()]})
    elif not slots:
        remark(f"Run {run.id} has no slots yet.")
    else:
        rows = [(name, _type(step), step.key) for name, step in slots.items()]
        echo_table(("SLOT", "TYPE", "STEP"), rows)


def slot_report(journal: OpenJournal, run: RunRecord, name: str, *, as_json: bool) -> None:
    """Print the whole value of one slot."""

    def work(connection: Connection) -> tuple[StepRecord, Json]:
        slots = _slots(connection, run)
        if name not in slots:
            raise NotFound(
                f"Run {run.id} has no slot {name!r}",
                fix=f"Its slots are: {', '.join(slots) or 'none yet'}.",
                run_id=run.id,
                slot=name,
            )
        step = with_output(connection, slots[name])
        return step, _content(connection, step)

    step, content = journal.read(work)
    if as_json:
        echo_json({"slot": _shape(step) | {"value": content}})
    else:
        echo_text(_text(content))


def _slots(connection: Connection, run: RunRecord) -> dict[str, StepRecord]:
    return {
        step.slot: step
        for step in load_journal(connection, run).values()
        if step.slot is not None and step.state is StepState.DONE
    }


def _content(connection: Connection, step: StepRecord) -> Json:
    """Return what a slot stands for: behind a pointer, the payload of its receipt."""
    if step.receipt_id is None:
        return step.output
    from callboard.tools.audit.receipts import read_receipt

    return read_receipt(connection, step.receipt_id).payload


def _text(content: Json) -> str:
    if isinstance(content, str):
        return content
    data = cast("dict[str, Any]", content) if isinstance(content, dict) else {}
    text = data.get("text")
    # What an agent made, in one call or of parts; the rest of it is for `--json`.
    if isinstance(text, str) and not _MADE.isdisjoint(data):
        return text
    return json.dumps(content, ensure_ascii=False, indent=2)


def _type(step: StepRecord) -> str:
    return "pointer" if step.receipt_id is not None else "artifact"


def _shape(step: StepRecord) -> dict[str, Json]:
    return {
        "name": step.slot,
        "type": _type(step),
        "step_key": step.key,
        "run_id": step.run_id,
        "receipt_id": step.receipt_id,
        "sha256": step.output_hash,
    }


_POLL_SECONDS: Final = 0.2


def events_report(journal: OpenJournal, run: RunRecord, *, follow: bool, as_json: bool) -> None:
    """Print events, one per line; with `follow` also those still to come."""
    for event in _events(journal, run.id, follow=follow):
        if as_json:
            echo_json_line(event.to_json())
        else:
            echo(f"{event.seq:>6}  {moment(event.at)}  {event.type:<20}  {describe(event)}")


def _events(journal: OpenJournal, run_id: str, *, follow: bool) -> Iterator[Event]:
    after = 0
    while True:
        # Asked before reading: what a run did before it was over is then surely read.
        run = journal.read(lambda connection: load_run(connection, run_id))
        page = journal.read(
            lambda connection, after=after: read_events(connection, after=after, run_id=run_id)
        )
        yield from page
        if page:
            after = page[-1].seq
        elif not follow or run.is_terminal:
            return
        else:
            time.sleep(_POLL_SECONDS)
