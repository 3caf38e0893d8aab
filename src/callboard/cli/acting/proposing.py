"""What a run proposes, at the command line: looked at, and applied."""

from dataclasses import dataclass
from pathlib import Path

from callboard.choreography.recipe import Proposal, apply_proposals, list_proposals
from callboard.cli import exits
from callboard.cli.acting.opening import Choices, working
from callboard.cli.bridge import Interrupt, perform
from callboard.cli.output import echo, echo_json, echo_text, remark


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What the user accepts: one file or all, and whether a changed file is replaced as well."""

    path: str | None = None
    force: bool = False


def show_proposals(project: Path | None, name: str, *, as_json: bool) -> int:
    """Print what a run would write."""

    async def work(_interrupt: Interrupt) -> int:
        async with working(Choices(project, as_json=as_json)) as here:
            found = await list_proposals(here.studio, here.find(name).id)
            if as_json:
                echo_json({"proposals": [each.to_json() for each in found]})
            elif not found:
                remark("This run proposes nothing.")
            for proposal in () if as_json else found:
                _print(proposal)
        return exits.OK

    return perform(work)


def apply_run(project: Path | None, name: str, accepted: Acceptance, *, as_json: bool) -> int:
    """Write what a run proposes and say what was written."""

    async def work(_interrupt: Interrupt) -> int:
        async with working(Choices(project, as_json=as_json)) as here:
            applied = await apply_proposals(
                here.studio, here.find(name).id, path=accepted.path, force=accepted.force
            )
            if as_json:
                echo_json({"applied": [each.to_json() for each in applied]})
            for proposal in () if as_json else applied:
                echo(f"Written: {proposal.path}")
        return exits.OK

    return perform(work)


def _print(proposal: Proposal) -> None:
    state = "applied" if proposal.is_applied else "outdated" if proposal.is_outdated else "open"
    echo(f"{proposal.path} ({state}, issue #{proposal.issue}): {proposal.reason}")
    echo_text(proposal.diff)
    if not proposal.is_applied:
        remark(f"Write it: callboard runs apply {proposal.run_id}")
