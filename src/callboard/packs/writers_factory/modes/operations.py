"""What moves a book through its modes."""

from dataclasses import dataclass

from callboard.operations import AGENT, operation
from callboard.packs.writers_factory.action import Done, Filled
from callboard.packs.writers_factory.bible.claims import StatusReport
from callboard.packs.writers_factory.bible.operations import tell_template
from callboard.packs.writers_factory.model import (
    ARCHITECT,
    VOICE_CALIBRATION,
    TemplateName,
    TemplateStatus,
)
from callboard.packs.writers_factory.modes.gates import GateOverride, Transition
from callboard.packs.writers_factory.modes.modes import WRITER, Modes
from callboard.packs.writers_factory.modes.specs import ModeGated


@dataclass(frozen=True, slots=True)
class Marked:
    """The mode a book that was called complete is in, and what its gate still asked for."""

    mode: str
    unmet: tuple[str, ...] = ()


@operation(who=(AGENT,))
async def advance_mode(modes: Modes, to: Filled) -> Done:
    """Go to the next mode once its gate is open."""
    moved = await modes.advance(to.upper(), by="agent")
    opens = f"; first: {moved.opens_with}" if moved.opens_with else ""
    return Done(f"{moved.from_mode} to {moved.to_mode}{opens}")


@operation(who=(AGENT,), modes=(ARCHITECT, VOICE_CALIBRATION))
async def update_status(
    modes: Modes, template: TemplateName, status: TemplateStatus, missing: list[str] | None = None
) -> Done:
    """Say where a template stands; what the files show wins."""
    await modes.update_status(template, status)
    found = modes.bible.template(template)
    if found.status is status:
        told = f"{template} is {status}"
        return tell_template(modes.bible, found, found.file_path, told)
    told = f"{template} is {found.status.value}, not {status}"
    done = tell_template(modes.bible, found, found.file_path, told)
    return Done(done.detail, done.data, notices=(done.detail, *done.notices))


@operation()
async def move_book(modes: Modes, to: str, risk_note: str = "") -> Transition:
    """Move the book to another mode; a gate that is not met refuses with everything missing."""
    return await modes.advance(to, by=WRITER, risk_note=risk_note)


@operation()
async def override_gate(modes: Modes, to: str, risk_note: str = "") -> Transition:
    """Go on although a gate is not met, once a refusal has told everything that is missing."""
    return await modes.advance(to, by=WRITER, override=True, risk_note=risk_note)


@operation()
async def mark_complete(modes: Modes) -> Marked:
    """Mark the manuscript as complete; the writer's word is final, whatever is missing."""
    try:
        return Marked((await modes.mark_complete(by=WRITER)).to_mode)
    except ModeGated as gated:
        moved = await modes.mark_complete(by=WRITER, override=True)
        return Marked(moved.to_mode, tuple(gated.unmet))


@operation()
async def waive_template(modes: Modes, template: str, risk_note: str = "") -> GateOverride:
    """Go on without one template and nothing else; refused once, with what is missing."""
    return await modes.waive(template, by=WRITER, risk_note=risk_note)


@operation()
async def claim_template(modes: Modes, template: str, status: str) -> StatusReport:
    """Open a complete template for revision, or close it; a claim beyond its file is told."""
    return await modes.update_status(template, status)
