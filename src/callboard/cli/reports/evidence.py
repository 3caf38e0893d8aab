"""Evidence verdicts as read from the journal."""

from dataclasses import asdict, dataclass, replace

from callboard.cli.output import counted, echo, echo_json, echo_table, moment, remark
from callboard.cli.reading import OpenJournal
from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput
from callboard.replies.evidence.citation import EvidenceCode
from callboard.store.connection import Connection
from callboard.store.journal.sessions import load_session
from callboard.store.journal.verdicts import (
    VerdictFilter,
    VerdictRecord,
    count_codes,
    count_verdicts,
    list_verdicts,
)


@dataclass(frozen=True, slots=True)
class WantedVerdicts:
    """What the user wants to see listed."""

    run: str | None = None
    session: str | None = None
    agent: str | None = None
    code: str | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True)
class _FoundVerdict:
    verdicts: tuple[VerdictRecord, ...] = ()
    codes: tuple[tuple[str, int], ...] = ()
    totals: tuple[tuple[str, int], ...] = (("accepted", 0), ("abstained", 0), ("rejected", 0))


def evidence_report(journal: OpenJournal, wanted: WantedVerdicts, *, as_json: bool) -> None:
    """List verdicts, then totals and how often each code occurred."""
    found = _find(journal, wanted)
    if as_json:
        echo_json(
            {
                "verdicts": [_shape(each) for each in found.verdicts],
                "totals": dict(found.totals),
                "codes": dict(found.codes),
            }
        )
        return
    if not found.verdicts:
        remark("No reply was checked for evidence.")
        return
    rows = [
        (moment(each.at), each.agent_id, _outcome(each), each.step_key or "", each.detail)
        for each in found.verdicts
    ]
    echo_table(("AT", "AGENT", "VERDICT", "STEP", "DETAIL"), rows)
    echo()
    echo(", ".join(f"{count} {name}" for name, count in found.totals) + ".")
    for code, times in found.codes:
        echo(f"  {code:<26} {counted(times, 'time')}")


def _find(journal: OpenJournal, wanted: WantedVerdicts) -> _FoundVerdict:
    if wanted.code is not None and wanted.code not in {each.value for each in EvidenceCode}:
        raise InvalidInput(
            f"{wanted.code!r} is not a reason a reply is refused for",
            fix=f"Reasons: {', '.join(each.value for each in EvidenceCode)}.",
        )
    chosen = VerdictFilter(agent_id=wanted.agent, code=wanted.code)
    if wanted.run is not None:
        chosen = replace(chosen, run_id=journal.run(wanted.run).id)

    def work(connection: Connection) -> _FoundVerdict:
        only = chosen
        if wanted.session is not None:
            only = replace(only, session_id=load_session(connection, wanted.session).id)
        return _FoundVerdict(
            tuple(list_verdicts(connection, only, limit=wanted.limit)),
            tuple(count_codes(connection, only).items()),
            tuple(count_verdicts(connection, only).items()),
        )

    return journal.read_or(_FoundVerdict(), work)


def _outcome(record: VerdictRecord) -> str:
    if record.abstained:
        return "abstained"
    return "accepted" if record.accepted else ", ".join(record.codes)


def _shape(record: VerdictRecord) -> dict[str, Json]:
    shape: dict[str, Json] = asdict(record)
    return shape
