"""The health of the manuscript: reports, alerts, and what the writer set right."""

from collections.abc import Sequence
from typing import Any

from callboard.cli.output import clean, echo, echo_json, echo_table, remark
from callboard.packs.writers_factory.health.records import KnownFinding
from callboard.packs.writers_factory.health.values import ThemeOverride


def health_report(told: dict[str, Any]) -> None:
    """Show the seven checks and what they found."""
    score = told["overall_score"]
    echo(clean(f"{told['scope']}: {'no score' if score is None else f'{score:.0f} of 100'}"))
    rows = [
        (
            str(each["check_id"]),
            str(each["status"]),
            "" if each["score"] is None else f"{each['score']:.0f}",
            f"{'partial ' if each['partial'] else ''}{each['note']}".strip(),
        )
        for each in told["checks"]
    ]
    echo_table(("CHECK", "STATUS", "SCORE", "NOTE"), rows)
    for check in told["checks"]:
        for finding in check["findings"]:
            _echo_finding(finding)


def _echo_finding(finding: dict[str, Any], state: str = "") -> None:
    about = f"{finding['id']}  {finding['check_id']}  {finding['severity']}  {state}".rstrip()
    echo(clean(f"\n{about}\n  {finding['title']}"))
    for each in finding["evidence"]:
        echo(clean(f"  {each['scene_id']}: “{each['quote']}”"))
    if finding["recommendation"]:
        echo(clean(f"  {finding['recommendation']}"))


def alerts_report(found: Sequence[KnownFinding], *, has_looked: bool, as_json: bool) -> None:
    """List findings with what became of them."""
    if as_json:
        echo_json({"findings": [{"id": each.id, **each.to_json()} for each in found]})
        return
    if not found:
        told = "Nothing is open. `callboard factory health` looks again."
        remark(told if has_looked else "Nobody has looked yet: callboard factory health")
    for each in found:
        muted = f"muted: {each.muted_because}" if each.muted_because else each.state
        _echo_finding(each.to_json()["finding"], muted)


def muted_report(known: KnownFinding, *, as_json: bool) -> None:
    """Say that a finding is muted, or heard again."""
    if as_json:
        echo_json({"finding": {"id": known.id, **known.to_json()}})
    elif known.muted_because:
        echo(clean(f"{known.id} is muted: {known.muted_because}"))
        remark(f"Hear it again: callboard factory alerts --unmute {known.id}")
    else:
        echo(clean(f"{known.id} is an alert again."))


def theme_report(override: ThemeOverride, *, as_json: bool) -> None:
    """Say which score counts now."""
    if as_json:
        echo_json({"override": override.to_json()})
        return
    echo(
        clean(f"{override.target}: {override.score:g} of 10 by your word, until its text changes.")
    )
    remark(f"Take it back: callboard factory theme {override.target} --withdraw")
