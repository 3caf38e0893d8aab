"""What doors tell: how a loop ended, the bars in colour words, units, story hooks, canon."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final, cast

from callboard.cli import exits
from callboard.cli.handlers.ending import tell_question
from callboard.cli.handlers.following import Followed
from callboard.cli.output import clean, echo, echo_facts, echo_json_line, echo_table, remark
from callboard.cli.reports.shapes import question_shape
from callboard.core.codec import encode
from callboard.core.errors import Conflict, NotFound
from callboard.core.events import Emitted, Event
from callboard.core.vocabulary import RunRecord
from callboard.packs.questfoundry.artifacts.catalog import index_of, shapes
from callboard.packs.questfoundry.bars.canon import read_canon
from callboard.packs.questfoundry.book.model import CanonStatement
from callboard.packs.questfoundry.canon.graph import TracedStatement, find_statement, readable
from callboard.packs.questfoundry.canon.identity import Identities
from callboard.packs.questfoundry.canon.statements import told
from callboard.packs.questfoundry.foundry import Foundry, foundry_of
from callboard.packs.questfoundry.steps.reports import told_lines
from callboard.packs.questfoundry.units.unit import WorkUnit
from callboard.prompts.tokens import OfflineTokenCounter
from callboard.studio.studio import Studio

GATE_BLOCK: Final = 4
STALLED: Final = exits.WAITING
# What a book is compared with: the text a Showrunner would read without any of this.
BASELINE_LINES: Final = 10_300


def tell_unit(foundry: Foundry, unit: WorkUnit) -> None:
    """Print a unit with what it made."""
    echo_facts(
        [
            ("unit", unit.id),
            ("loop", unit.loop),
            ("status", unit.status.value),
            ("outcome", unit.outcome),
            ("reason", unit.reason or ""),
            ("error", unit.error or ""),
            ("deferred", ", ".join(unit.deferral_tags)),
            ("snapshot", unit.snapshot or ""),
            ("next", unit.next_loop or ""),
        ]
    )
    rows = [(kind, str(row["ref"])) for kind, row in unit.made.items()]
    if rows:
        echo()
        echo_table(("ARTIFACT", "NAME"), rows)


def tell_report(report: Mapping[str, Any]) -> None:
    """Print the bars of a gatecheck and what would mend them."""
    for line in told_lines(report):
        echo(clean(line))
    echo(f"Decision: {report['decision']}")


def report_of(foundry: Foundry, unit: WorkUnit) -> dict[str, Any] | None:
    """Return the newest gate report of a unit."""
    row = unit.made.get("gatecheck_report")
    return None if row is None else foundry.shelf.body(str(row["sha256"]))


def conclude_loop(studio: Studio, followed: Followed, *, as_json: bool) -> int:
    """Print how a loop ended, or how to go on with it; return the exit code."""
    run_id = followed.run.id
    foundry = foundry_of(studio)
    run = studio.engine.load(run_id)
    units = units_of(foundry, run)
    unit = units[-1] if units else None
    report = None if unit is None else report_of(foundry, unit)
    code = exit_code(run.is_terminal, unit, report)
    is_let_go = followed.was_interrupted and not run.is_terminal
    if as_json:
        # The last line of a stream of events.
        echo_json_line(
            {
                "run_id": run.id,
                "state": run.state.value,
                "unit": None if unit is None else unit.shape(),
                "loops": [{"loop": each.loop, "unit": each.id} for each in units],
                "report": report,
                "error": None if run.error is None else run.error.to_json(),
                "questions": [question_shape(each) for each in followed.questions],
                "interrupted": followed.was_interrupted,
            }
        )
        return exits.INTERRUPTED if is_let_go else code
    for each in units:
        tell_unit(foundry, each)
    if report is not None:
        echo()
        tell_report(report)
    if run.error is not None:
        echo(clean(f"{run.error.code}: {run.error.message}"))
        if run.error.fix:
            echo(clean(run.error.fix))
    for question in followed.questions:
        tell_question(question, studio)
    if is_let_go:
        remark(f"Run {run.id} was let go; its finished steps are kept.")
        remark(f"  Go on with: callboard runs resume {run.id}")
        return exits.INTERRUPTED
    return code


def loop_to_resume(foundry: Foundry, unit_id: str) -> str:
    """Return the loop that can go on with a unit; an import is gone on with in its file."""
    unit = foundry.units.find(unit_id)
    if unit.loop == "import":
        raise Conflict(
            f"{unit_id} is an import ({unit.brief}), and no loop goes on with it",
            fix="Mend the file and import it again; `callboard quest tu reject` gives this one up.",
        )
    return unit.loop


def units_of(foundry: Foundry, run: RunRecord) -> list[WorkUnit]:
    """Return the units a run worked on, in order: of a chain, one for each loop it came to."""
    own = foundry.units.of_run(run.id)
    if own is not None:
        return [foundry.units.find(own)]
    # A chain has a unit for each hop, under the name of the step that opened it.
    found: list[WorkUnit] = []
    while (each := foundry.units.of_run(f"{run.id}/hop/{len(found) + 1}/open")) is not None:
        found.append(foundry.units.find(each))
    return found


def exit_code(is_over: bool, unit: WorkUnit | None, report: Mapping[str, Any] | None) -> int:
    """Return what the end of a loop means for a script."""
    if not is_over:
        return STALLED
    if unit is None or unit.outcome == "failed":
        return exits.FAILED
    if report is not None and report["decision"] == "block":
        return GATE_BLOCK
    return exits.OK if unit.outcome == "success" else STALLED


def told_in(events: Sequence[Event]) -> list[tuple[str, dict[str, Any]]]:
    """Return what loops told in some events, by name."""
    return [
        (each.body.name.removeprefix("loop."), cast("dict[str, Any]", each.body.data))
        for each in events
        if isinstance(each.body, Emitted) and each.body.name.startswith("loop.")
    ]


def context_rows(decisions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return how large what the Showrunner was shown was, by kind of decision."""
    rows: dict[str, dict[str, Any]] = {}
    for each in decisions:
        parts = cast("dict[str, dict[str, int]]", each.get("context") or {})
        if not parts:
            continue
        lines = {name: part["lines"] for name, part in parts.items()}
        counted = sum(count for name, count in lines.items() if name not in ("state", "message"))
        kind = "strategic" if each["kind"] == "decide_loop" else "tactical"
        row = rows.setdefault(kind, {"kind": kind, "calls": 0, "lines": 0, "state": 0, "tokens": 0})
        row["calls"] += 1
        row["lines"] = max(row["lines"], counted)
        row["state"] = max(row["state"], lines.get("state", 0))
        row["tokens"] = max(row["tokens"], int(each.get("context_tokens") or 0))
    own = full_text_size()
    for row in rows.values():
        row["below_baseline_percent"] = _percent_below(row["lines"], BASELINE_LINES)
        row["below_own_lines_percent"] = _percent_below(row["lines"], own["lines"])
        row["below_own_tokens_percent"] = _percent_below(row["tokens"], own["tokens"])
    return list(rows.values())


@cache
def full_text_size() -> dict[str, int]:
    """Return lines and tokens of all that a Showrunner would read if it were shown everything.

    That is every loop, every role in full, every schema, and what all roles share.
    """
    folder = files("callboard.packs.questfoundry")
    prompts = folder.joinpath("prompts")
    places = [prompts.joinpath(each) for each in ("roles", "showrunner", "patterns")]
    texts = [prompts.joinpath("validation_contract.md")]
    texts += [text for place in (*places, folder.joinpath("loops")) for text in place.iterdir()]
    read = [each.read_text("utf-8") for each in texts if each.name.endswith((".md", ".yaml"))]
    read.append(index_of(sorted(shapes())))
    counter = OfflineTokenCounter()
    return {
        "lines": sum(len(each.splitlines()) for each in read),
        "tokens": sum(counter.count(each) for each in read),
    }


def _percent_below(part: int, whole: int) -> float:
    return round(100 * (1 - part / whole), 1)


def canon_rows(
    foundry: Foundry, *, about: str = "", kind: str = "", reader: str | None = None
) -> list[TracedStatement]:
    """Return Cold's canon, of one name or one kind if asked, as a role may read it."""
    _require_role(foundry, reader)
    found = foundry.canon()
    statements = [each.statement for each in found.values()]
    who = Identities(statements, foundry.rules)
    return [
        each
        for each in readable(found.values(), reader)
        if kind in ("", each.statement.kind)
        and (not about or who.of(each.statement.about) == who.of(about))
    ]


def _require_role(foundry: Foundry, reader: str | None) -> None:
    """Refuse a reader who is nobody: what one may not see would be shown to a slip of the pen."""
    roles = [each.id for each in foundry.cast.roster()]
    if reader is not None and reader not in roles:
        raise NotFound(f"There is no role {reader!r}", fix=f"Roles are {', '.join(roles)}.")


def why_of(foundry: Foundry, statement_id: str, reader: str | None = None) -> dict[str, Any]:
    """Return why a statement is canon: who made it in which unit, for which hooks, and what was."""
    _require_role(foundry, reader)
    found = find_statement(foundry.canon(), statement_id, reader)
    origin = found.origin
    why: dict[str, Any] = {**found.shape(), "made": None, "hooks": [], "history": []}
    if origin.artifact:
        entry = foundry.shelf.find(f"{origin.artifact}.v{origin.version}")
        body = foundry.shelf.body(entry.sha256)
        why["made"] = {
            name: getattr(entry, name) for name in ("ref", "loop", "step", "produced_by", "tu_id")
        }
        why["hooks"] = _hooks_behind(body, found.statement)
    if foundry.cold.canon.graph.snapshot() is not None:
        why["history"] = foundry.cold.canon.graph.history(statement_id)
    return why


def _hooks_behind(body: Mapping[str, Any], statement: CanonStatement) -> list[str]:
    """Return the hooks of the answer itself; for any other statement, of all answers beside it."""
    rows = body.get("answers", ())
    if statement.kind == "answer":
        rows = [row for row in rows if str(row["question_id"]) == statement.about]
    return list(dict.fromkeys(str(hook) for row in rows for hook in row.get("hook_ids", ())))


def conflicts_of(foundry: Foundry, tus: Sequence[str] = ()) -> dict[str, Any]:
    """Return what contradicts canon in Cold, or in what Cold would be with some units."""
    book = foundry.book_with([foundry.units.find(each) for each in tus])
    reading = read_canon(book, foundry.rules)
    findings = [encode(each) for each in reading.findings()]
    status = "CONTRADICTIONS" if findings else "CONSISTENT"
    if not reading.statements or (reading.hearing.not_checked and not reading.clashes):
        status = "NOT_CHECKED"
    clashes = [
        {"kind": each.kind, "a": each.later, "b": each.earlier, "ids": list(each.ids)}
        for each in reading.clashes
    ]
    left_open = [told(each) for each in book.canon if each.kind == "mystery"]
    return {
        "status": status,
        "looked_at": reading.fact,
        "clashes": clashes,
        "findings": findings,
        "mysteries": left_open,
    }
