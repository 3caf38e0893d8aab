"""Revision: scores of a scene, tracked changes, edits, proposals, reports and exports."""

from collections.abc import Sequence
from typing import Any

from callboard.cli.output import clean, counted, echo, echo_json, echo_table, moment, remark
from callboard.packs.writers_factory.revision.editing.edits import EditResult
from callboard.packs.writers_factory.revision.editing.proposals import EditProposal
from callboard.packs.writers_factory.revision.enhancement.proposal import Enhancement


def analysis_report(told: dict[str, Any]) -> None:
    """Show what a scene is worth, and what is to be fixed in it."""
    scene = told["scene_id"]
    echo(clean(f"{scene}: {told['total']:g} of 100, {str(told['band']).replace('_', ' ')}"))
    rows = [
        (
            str(each["category"]).replace("_", " "),
            "-" if each["points"] is None else f"{each['points']:g}",
            f"{each['most']:g}",
        )
        for each in told["scores"]
    ]
    echo_table(("CATEGORY", "POINTS", "OF"), rows)
    for issue in told["issues"]:
        echo(clean(f"\nline {issue['line']}, {issue['severity']}: {issue['problem']}"))
        echo(clean(f"  “{issue['quote']}”"))
        if issue["suggestion"]:
            echo(clean(f"  {issue['suggestion']}"))
    for note in told["notes"]:
        remark(clean(f"  note: {note}"))
    for issue in told.get("blocked_by", ()):
        remark(clean(f"  cannot be accepted with: {issue['pattern']} “{issue['quote']}”"))
    if told.get("blocked_by"):
        remark(f"Mend it, or: callboard factory waive {scene} QUOTE --reason TEXT")


def enhancement_report(told: dict[str, Any]) -> None:
    """Show what an enhancement proposes; the scene is as it was."""
    before, after = told["before"]["total"], told["after"]["total"]
    echo(clean(f"{told['id']}: {told['mode']} of {told['scene_id']}, {before:g} to {after:g}"))
    for each in told["changes"]:
        _echo_change(each)
    for each in told["passes"]:
        remark(clean(f"  {_pass_line(each)}"))
    for note in told["notes"]:
        remark(clean(f"  note: {note}"))
    if told["changes"]:
        remark(f"Decide: callboard factory changes {told['id']} --accept all")
    else:
        remark("Nothing is to be changed.")


def _echo_change(change: dict[str, Any]) -> None:
    about = " ".join(filter(None, (change["pass"], change["reason"])))
    echo(clean(f"\n{change['id']}  {change['status']}  {about}".rstrip()))
    for sign, text in (("-", change["old"]), ("+", change["new"])):
        for line in str(text).splitlines():
            echo(clean(f"  {sign} {line}"))


def _pass_line(note: dict[str, Any]) -> str:
    what = f"pass {note['number']}, {note['name']}: "
    if note["is_kept"]:
        return f"{what}kept, {note['score_before']:g} to {note['score_after']:g}"
    return f"{what}not kept, {note['reverted']}"


def changes_report(enhanced: Enhancement, *, as_json: bool, was_decided: bool) -> None:
    """Show tracked changes, and after a decision how to go back."""
    if as_json:
        echo_json({"enhancement": enhanced.shown()})
        return
    enhancement_report(enhanced.shown())
    if was_decided:
        remark(f"Back: callboard factory versions {enhanced.scene_id}, then undo --version NUMBER")


def edit_report(result: EditResult, *, as_json: bool, is_undo: bool = False) -> None:
    """Show an edit as the difference it made, and how to take it back."""
    if as_json:
        echo_json({"edit": result.to_json()})
        return
    echo(clean(result.diff))
    for hit in result.hits:
        remark(clean(f"  line {hit.line}: {hit.pattern} “{hit.quote}”"))
    for each in result.against:
        remark(clean(f"  made by force against: {each}"))
    if not is_undo:
        remark(clean(f"Take it back: callboard factory undo {result.target}"))


def proposals_report(proposals: Sequence[EditProposal], *, as_json: bool) -> None:
    """List the texts the Foreman proposed."""
    if as_json:
        echo_json({"proposals": [each.to_json() for each in proposals]})
    elif not proposals:
        remark("Nothing is proposed.")
    else:
        rows = [(p.id, p.state.value, moment(p.created_at), p.target) for p in proposals]
        echo_table(("PROPOSAL", "STATE", "MADE", "FOR"), rows)


def proposal_report(proposal: EditProposal, *, as_json: bool) -> None:
    """Show a proposed text as the difference it would make."""
    if as_json:
        echo_json({"proposal": proposal.to_json()})
        return
    echo(clean(f"{proposal.id} for {proposal.target}: {proposal.state.value}\n"))
    echo(clean(proposal.diff))
    if proposal.state.value == "pending":
        remark(f"Take it: callboard factory proposals {proposal.id} --accept")
    elif proposal.state.value == "accepted":
        remark(clean(f"The text before: callboard factory versions {proposal.target}"))


def audit_report(told: dict[str, Any]) -> None:
    """Show what does not hold together."""
    for item in told["items"]:
        where = item["scene_id"] or "the book"
        echo(clean(f"{item['severity']}  {where}  {item['kind']}: {item['problem']}"))
        for quote in item["quotes"]:
            echo(clean(f"  “{quote}”"))
        echo(clean(f"  {item['fix']}"))
    for note in told["notes"]:
        remark(clean(f"  note: {note}"))
    remark(clean(f"{counted(len(told['items']), 'item')}; the report: {told['path']}"))


def voice_report(told: dict[str, Any]) -> None:
    """Show how far each scene is from the voice."""
    rows = [
        (
            str(each["scene_id"]),
            str(each["act"]),
            "" if each["distance"] is None else f"{each['distance']:.3f}",
            str(each["verdict"]),
        )
        for each in told["scenes"]
    ]
    echo_table(("SCENE", "ACT", "DISTANCE", "VERDICT"), rows)
    for note in told["notes"]:
        remark(clean(f"  note: {note}"))
    remark(clean(f"The report: {told['path']}"))


def completed_report(told: dict[str, Any]) -> None:
    """Show that the book is complete, what is still open, and where it was written."""
    echo("The manuscript is complete.")
    for warning in told["warnings"]:
        remark(clean(f"  warning: {warning}"))
    for error in told["open_errors"]:
        remark(clean(f"  open: {error}"))
    echo_files(told["export"] or {})
    remark("Take it back: callboard factory reopen")


def echo_files(export: dict[str, Any]) -> None:
    """Show where a book was written, and what it replaced."""
    for each in export.get("files", ()):
        echo(clean(f"{each['path']}  {each['size_bytes']} bytes"))
        if each.get("backup"):
            remark(clean(f"  what it held before: {each['backup']}"))
    for warning in export.get("warnings", ()):
        remark(clean(f"  warning: {warning}"))
    if export.get("left_out"):
        remark(f"  not written yet: {', '.join(export['left_out'])}")
