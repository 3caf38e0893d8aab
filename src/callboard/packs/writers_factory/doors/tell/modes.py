"""Where the book stands: its mode, what the next one still wants, and the moves it made."""

from callboard.cli.output import clean, echo, echo_facts, echo_json, remark
from callboard.core.canonical import Json
from callboard.packs.writers_factory.modes import Modes
from callboard.packs.writers_factory.modes.gates import GateOverride, Transition


def mode_report(modes: Modes, *, as_json: bool) -> None:
    """Show the mode, how far it has come, and what stands before the next."""
    following = modes.next_mode()
    unmet = modes.gate(following).unmet if following else ()
    shape: dict[str, Json] = {
        "mode": modes.current(),
        "completion_pct": modes.completion_pct(),
        "next": following,
        "unmet": list(unmet),
        "unlocked": list(modes.unlocked()),
        "overrides": [each.to_json() for each in modes.overrides()],
        "history": [dict(each) for each in modes.history()],
    }
    if as_json:
        echo_json(shape)
        return
    echo_facts(
        [
            ("mode", modes.current()),
            ("done", f"{modes.completion_pct()} %"),
            ("next", following or "nothing: this is the last one"),
            ("open", ", ".join(modes.unlocked())),
        ]
    )
    for each in unmet:
        echo(f"  missing  {clean(each)}")
    for line in modes.override_lines():
        echo(f"  override  {clean(line)}")


def moved_report(moved: Transition, *, as_json: bool) -> None:
    """Show what a move led to."""
    if as_json:
        echo_json({"moved": moved.to_json()})
        return
    if not moved.changed:
        echo(f"The book already is in {moved.to_mode}.")
        return
    echo(f"The book went from {moved.from_mode} to {moved.to_mode}.")
    if moved.override is not None:
        echo(f"  on record: {clean(moved.override.line)}")
    for each in moved.left_undone:
        remark(f"  not done: {clean(each)}")
    if moved.opens_with:
        remark(f"  first: {clean(moved.opens_with)}")
    remark(f"Back: callboard factory mode {moved.from_mode}")


def waived_report(made: GateOverride, *, as_json: bool) -> None:
    """Show what the writer decided to go on without."""
    if as_json:
        echo_json({"override": made.to_json()})
    else:
        echo(f"On record: {clean(made.line)}")
