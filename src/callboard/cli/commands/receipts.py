"""`callboard receipts`: the signed record of every tool execution."""

from typing import TYPE_CHECKING, Annotated

import typer

from callboard.cli import exits
from callboard.cli.options import (
    JsonOption,
    LimitOption,
    ProjectOption,
    SessionOption,
    new_app,
)
from callboard.cli.output import (
    counted,
    echo,
    echo_facts,
    echo_json,
    echo_table,
    moment,
    one_line,
    remark,
    seconds,
)

if TYPE_CHECKING:
    from callboard.cli.reading import OpenJournal
    from callboard.core.vocabulary.run import Receipt
    from callboard.store.ledger.verification import LedgerReport

app = new_app("The signed record of every tool execution.")

RunOption = Annotated[
    str | None,
    typer.Option("--run", metavar="RUN", help="Only receipts of this run.", show_default=False),
]


@app.command("list")
def list_command(
    session: SessionOption = None,
    run: RunOption = None,
    limit: LimitOption = 50,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """List receipts, newest last."""
    from callboard.cli.reading import reading
    from callboard.tools.audit.receipts import receipt_to_json

    with reading(project) as journal:
        whole = _receipts(journal, session, run)
    found = whole[-limit:]
    if as_json:
        echo_json({"receipts": [receipt_to_json(each) for each in found]})
    elif not found:
        remark("No receipts.")
    else:
        rows = [
            (r.id, r.tool, r.outcome.value, moment(r.created_at), r.step_key or "", r.preview)
            for r in found
        ]
        echo_table(("RECEIPT", "TOOL", "OUTCOME", "AT", "STEP", "PREVIEW"), rows)
    if len(whole) > len(found):
        # On standard error: programs that read the list are not told twice.
        remark(f"… and {len(whole) - len(found)} older: --limit {len(whole)} lists them all.")


@app.command()
def show(
    receipt: Annotated[
        str,
        typer.Argument(
            metavar="RECEIPT", help="Id of a receipt, or a unique beginning or end of it."
        ),
    ],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a receipt with its whole payload."""
    import json

    from callboard.cli.reading import matching, pick, reading
    from callboard.core.canonical import compact_json
    from callboard.tools.audit.mirror import MirrorIndex
    from callboard.tools.audit.receipts import read_receipt, receipt_to_json
    from callboard.tools.audit.signing import Signer

    with reading(project) as journal:
        rows = journal.read(lambda c: c.execute("SELECT id FROM receipts").fetchall())
        receipt_id = pick(matching([row["id"] for row in rows], receipt), receipt, "receipt")
        found = journal.read(lambda connection: read_receipt(connection, receipt_id))
        journal.read(lambda connection: journal.viewer.require(connection, found.session_id))
        trail = journal.project.trail
        is_valid = MirrorIndex(trail.folder).is_trustworthy(found, Signer(trail))
    if as_json:
        echo_json({"receipt": receipt_to_json(found), "signature_valid": is_valid})
        return
    echo_facts(
        [
            ("receipt", f"{found.id} (number {found.seq} of {found.session_id})"),
            ("tool", found.tool),
            ("arguments", compact_json(found.args)),
            ("outcome", found.outcome.value),
            ("for agent", found.agent_id or ""),
            ("run", found.run_id or ""),
            ("step", found.step_key or ""),
            ("at", moment(found.created_at)),
            ("took", seconds(found.duration_ms)),
            ("preview", one_line(found.preview)),
            ("error", found.error.message if found.error is not None else ""),
            ("hash", found.hash),
            ("signature", "valid" if is_valid else "NOT VALID"),
        ]
    )
    echo("\nPayload:")
    echo(json.dumps(found.payload, ensure_ascii=False, indent=2))


@app.command()
def verify(
    session: SessionOption = None, project: ProjectOption = None, as_json: JsonOption = False
) -> int:
    """Check signatures, order and completeness, and every row of the database.

    Every flaw is named; the exit code is 1 if there is one, or if something cannot be proven.
    """
    from dataclasses import asdict, replace

    from callboard.cli.reading import reading
    from callboard.store.ledger.verification import LedgerReport
    from callboard.studio.database import DATABASES
    from callboard.tools.audit.verification import Verification
    from callboard.tools.audit.verification import verify as verify_receipts

    with reading(project) as journal:
        ledger = LedgerReport()
        if journal.is_empty:
            found, hidden = Verification((), 0, 0, (), (), {}), set[str]()
        else:
            ledger = journal.database.verify()
            wanted = None if session is None else journal.session(session).id
            found = verify_receipts(journal.database, journal.project.trail, wanted)
            hidden = set(journal.read(journal.viewer.hidden))
        if not journal.project.standing.is_trusted and (
            unread := [name for name in DATABASES if (journal.project.brought / name).exists()]
        ):
            # Whoever alters a database could make its folder a stranger's as well.
            told = f"{', '.join(unread)} was not looked at: {journal.project.standing.reason}"
            ledger = replace(ledger, unproven=(*ledger.unproven, told))
    is_sound = found.is_sound and ledger.is_sound
    if as_json:
        told = {**asdict(ledger), "is_sound": ledger.is_sound}
        # All is looked at; whose conversations there are is for nobody else to know.
        own = {"sessions": [each for each in found.sessions if each not in hidden]}
        echo_json({**asdict(found), **own, "ledger": told, "is_sound": is_sound})
    else:
        for flaw in (*ledger.flaws, *found.flaws):
            echo(f"✗ {flaw.code}: {one_line(flaw.message)}")
        for text in ledger.unproven:
            echo(f"? not proven: {one_line(text)}")
        for note in (*ledger.notes, *found.notes):
            remark(f"· {one_line(note)}")
        rows = f"{counted(ledger.rows, 'row')} of {counted(ledger.entries, 'commit')}"
        echo(f"{rows}: {_told(ledger)}.")
        checked = (
            f"{counted(found.receipts, 'receipt')} in {counted(len(found.sessions), 'session')}"
        )
        echo(f"{checked}: {'all sound' if found.is_sound else counted(len(found.flaws), 'flaw')}.")
    return exits.OK if is_sound else exits.FAILED


def _told(ledger: "LedgerReport") -> str:
    if ledger.flaws:
        return counted(len(ledger.flaws), "flaw")
    return "not all proven" if ledger.unproven else "all sound"


def _receipts(journal: "OpenJournal", session: str | None, run: str | None) -> "list[Receipt]":
    from callboard.store.connection import Connection
    from callboard.store.journal.sessions import load_session
    from callboard.tools.audit.receipts import list_receipts

    run_id = None if run is None else journal.run(run).id

    def work(connection: Connection) -> "list[Receipt]":
        session_id = None if session is None else load_session(connection, session).id
        found = list_receipts(connection, session_id=session_id, run_id=run_id)
        return journal.viewer.among(connection, found, lambda receipt: receipt.session_id)

    nothing: list[Receipt] = []
    return journal.read_or(nothing, work)
