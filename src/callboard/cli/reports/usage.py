"""The ledger added up, for people, for programs and for spreadsheets."""

import csv
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from callboard.cli.output import echo, echo_facts, echo_json, echo_table, number, remark
from callboard.cli.reading import OpenJournal
from callboard.core.canonical import Json
from callboard.core.clock import SystemClock
from callboard.core.errors import InvalidInput
from callboard.models.accounts import (
    CallRecord,
    EstimatorLine,
    Totals,
    UsageFilter,
    UsageLine,
    UsageReport,
    calls_matching,
    estimator_report,
    usage_report,
)
from callboard.store.connection import Connection

_OVERVIEW: Final = (("model",), ("agent",), ("step",))
_OVERVIEW_LINES: Final = 12
_MS: Final = {"h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}


@dataclass(frozen=True, slots=True)
class UsageWanted:
    """What a user asked to see, as it was typed."""

    by: tuple[str, ...]
    run: str | None
    session: str | None
    provider: str | None
    agent: str | None
    since: str | None


def usage_output(journal: OpenJournal, wanted: UsageWanted, *, as_csv: bool, as_json: bool) -> None:
    """Print a report in the form that was asked for."""
    only = _filter(journal, wanted)
    if as_csv and not wanted.by:
        _calls_csv(journal.read_or([], lambda connection: calls_matching(connection, only)))
        return
    reports = [
        journal.read_or(UsageReport(by, Totals(), ()), _reporting(by, only))
        for by in ([wanted.by] if wanted.by else _OVERVIEW)
    ]
    judged = journal.read_or((), lambda connection: estimator_report(connection, only))
    if as_csv:
        _report_csv(reports[0])
    elif as_json:
        echo_json(_shape(reports, judged))
    elif not reports[0].lines:
        remark("No model has been called.")
    else:
        _show(reports, judged, is_overview=not wanted.by)


def parse_since(text: str, now_ms: int) -> int:
    """Return the moment a user means: so many hours, days or weeks ago, or a date."""
    ago = re.fullmatch(r"(\d{1,6})([hdw])", text)
    if ago is not None:
        return now_ms - int(ago[1]) * _MS[ago[2]]
    try:
        return int(datetime.fromisoformat(text).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(
            f"{text!r} is not a time to look back to", fix="Write 24h, 7d, 4w or 2026-01-31."
        ) from error


def money(totals: Totals) -> str:
    """Return what calls cost; what has no known price is not passed over in silence."""
    if totals.unpriced and not totals.microusd:
        return "unknown"
    return f"${totals.usd:,.4f}" + (f" + {totals.unpriced} unpriced" if totals.unpriced else "")


def _filter(journal: OpenJournal, wanted: UsageWanted) -> UsageFilter:
    session = None if wanted.session is None else journal.session(wanted.session).id
    return UsageFilter(
        session_id=session,
        hidden=journal.read_or((), journal.viewer.hidden),
        run_id=None if wanted.run is None else journal.run(wanted.run).id,
        provider=wanted.provider,
        agent_id=wanted.agent,
        since=None if wanted.since is None else parse_since(wanted.since, SystemClock().now_ms()),
    )


def _reporting(by: tuple[str, ...], only: UsageFilter) -> Any:
    def work(connection: Connection) -> UsageReport:
        return usage_report(connection, by, only, None)

    return work


def _show(
    reports: Sequence[UsageReport], judged: Sequence[EstimatorLine], *, is_overview: bool
) -> None:
    total = reports[0].total
    echo_facts(
        [
            ("calls", f"{number(total.calls)} ({number(total.failed)} failed)"),
            ("tokens", f"{number(total.input_tokens)} in, {number(total.output_tokens)} out"),
            ("cost", money(total)),
        ]
    )
    for report in reports:
        lines = report.lines[:_OVERVIEW_LINES] if is_overview else report.lines
        echo()
        echo_table(
            (*(name.upper() for name in report.by), "CALLS", "FAILED", "IN", "OUT", "COST"),
            [_row(line) for line in lines],
        )
        if len(lines) < len(report.lines):
            remark(f"… and more: `callboard usage --by {report.by[0]}`")
    if judged:
        echo()
        rows = [
            (
                line.model,
                number(line.calls),
                number(line.estimated_tokens),
                number(line.actual_tokens),
                f"{line.ratio:.2f}" if line.ratio is not None else "",
            )
            for line in judged
        ]
        echo_table(("PROMPTS OF", "CALLS", "ESTIMATED", "ACTUAL", "RATIO"), rows)


def _row(line: UsageLine) -> tuple[str, ...]:
    totals = line.totals
    return (
        *(name or "-" for name in line.names),
        number(totals.calls),
        number(totals.failed),
        number(totals.input_tokens),
        number(totals.output_tokens),
        money(totals),
    )


def _shape(reports: Sequence[UsageReport], judged: Sequence[EstimatorLine]) -> dict[str, Json]:
    return {
        "total": _totals(reports[0].total),
        "breakdowns": [
            {
                "by": list(report.by),
                "lines": [
                    {
                        **dict(zip(report.by, line.names, strict=True)),
                        **_totals(line.totals),
                    }
                    for line in report.lines
                ],
            }
            for report in reports
        ],
        "estimates": [{**asdict(line), "ratio": line.ratio} for line in judged],
    }


def _totals(totals: Totals) -> dict[str, Json]:
    shape: dict[str, Json] = asdict(totals)
    del shape["microusd"]
    return {**shape, "cost_usd": totals.usd}


def _report_csv(report: UsageReport) -> None:
    lines = [
        {**dict(zip(report.by, line.names, strict=True)), **_totals(line.totals)}
        for line in report.lines
    ]
    _csv([*report.by, *_totals(Totals())], lines)


def _calls_csv(calls: Sequence[CallRecord]) -> None:
    rows: list[dict[str, Json]] = [
        {
            "id": call.id,
            "at": datetime.fromtimestamp(call.at / 1000).astimezone().isoformat(),
            **call.spender.columns(),
            "requests": call.requests,
            **asdict(call.usage),
            "is_estimated": call.is_estimated,
            "cost_usd": None if call.microusd is None else call.microusd / 1_000_000,
            "latency_ms": call.latency_ms,
            "first_token_ms": call.first_token_ms,
            "outcome": call.outcome.value,
            "error_code": call.error_code,
            "attempt": call.attempt,
            "switched_from": call.switched_from,
        }
        for call in calls
    ]
    _csv(list(rows[0]) if rows else ["id"], rows)


def _csv(columns: Sequence[str], rows: Iterable[dict[str, Json]]) -> None:
    writer = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
