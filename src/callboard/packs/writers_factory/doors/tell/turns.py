"""Turns with the Foreman: which prompts each sent, exactly as sent, and the state they saw."""

from typing import Any

from callboard.cli.output import clean, echo, echo_json, echo_table, echo_text, moment, remark
from callboard.cli.reading import matching, pick
from callboard.cli.reports.prompts import echo_record, record_shape
from callboard.core.canonical import Json, plain
from callboard.core.errors import NotFound
from callboard.packs.writers_factory.factory import Factory
from callboard.prompts import PromptRecord, load_prompt

LAST = "last"


def state_report(factory: Factory, wanted: str, *, as_json: bool) -> None:
    """Show what the Foreman works from, and what in the writer's files cannot be used."""
    foreman, problems = factory.foreman, factory.problems()
    if as_json:
        echo_json({"state": foreman.state_json(), "problems": list(problems)})
        return
    echo_text(foreman.state_xml() if wanted == "xml" else foreman.state_text())
    for each in problems:
        remark(clean(f"  warning: {each}"))


def turns_report(factory: Factory, limit: int, *, as_json: bool) -> None:
    """List the turns, newest last."""
    turns = list(factory.foreman.turns().items())[-limit:]
    if as_json:
        listed: list[Json] = [{"run_id": run_id, **plain(body)} for run_id, body in turns]
        echo_json({"turns": listed})
    elif not turns:
        remark("Nothing has been said yet: callboard factory chat")
    else:
        rows = [
            (
                run_id,
                moment(factory.studio.engine.load(run_id).created_at),
                str(body["mode"]),
                str(body["model"]),
                str(body["tier"]),
                str(len(body["prompt_ids"])),
                str(body["said"]),
            )
            for run_id, body in turns
        ]
        echo_table(("TURN", "WHEN", "MODE", "MODEL", "TIER", "PROMPTS", "SAID"), rows)


def turn_report(factory: Factory, named: str, *, only_text: bool, as_json: bool) -> None:
    """Show everything one turn sent to models, with tier and layer sizes."""
    run_id, turn = _find(factory, named)
    records = [_load(factory, str(each)) for each in turn["prompt_ids"]]
    if as_json:
        shown: list[Json] = [record_shape(each) for each in records]
        echo_json({"run_id": run_id, "turn": plain(turn), "prompts": shown})
        return
    for record in records:
        if only_text:
            echo_text(record.text)
        else:
            echo_record(record)
            echo("")
    if not records:
        remark("No model was asked in this turn.")
    for each in turn["warnings"]:
        remark(clean(f"  warning: {each}"))


def _find(factory: Factory, named: str) -> tuple[str, dict[str, Any]]:
    turns = factory.foreman.turns()
    if named == LAST and turns:
        return list(turns.items())[-1]
    run_id = pick(matching(list(turns), named), named, "turn")
    if run_id not in turns:
        raise NotFound(
            f"There is no turn {named!r}", fix="`callboard factory prompts` lists them.", turn=named
        )
    return run_id, turns[run_id]


def _load(factory: Factory, prompt_id: str) -> PromptRecord:
    return factory.studio.database.read(lambda connection: load_prompt(connection, prompt_id))
