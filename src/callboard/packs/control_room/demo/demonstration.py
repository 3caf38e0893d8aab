"""The demonstration: sets the sample novel up, drafts a scene, and says what to try next."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.cli import exits
from callboard.cli.bridge import Interrupt, perform
from callboard.cli.output import number, remark, seconds
from callboard.cli.reports.models import pull_weights
from callboard.cli.work.ending import conclude, exit_code_of
from callboard.cli.work.following import Followed, follow
from callboard.cli.work.initiating import Initiated, initiate
from callboard.cli.work.opening import Choices, OpenWork, working
from callboard.core.vocabulary.run import RunRecord
from callboard.packs.control_room.demo.tell import echo_scene_report, read_scene_report
from callboard.store.journal.steps import load_journal

_PACK: Final = "control_room"
_RECIPE: Final = "control_room/creative_draft_scene"


@dataclass(frozen=True, slots=True)
class Demonstration:
    """What is shown, where, and by which model."""

    folder: Path
    task: str
    model: str
    as_json: bool = False


def demonstrate(wanted: Demonstration) -> int:
    """Show it, and return the exit code of the run."""
    root = set_up(wanted.folder)
    if not wanted.as_json:
        remark(f"The sample novel, The Tide Clock, lies in {wanted.folder}.")
        remark(f"The staff is asked: {wanted.task}")
    if wanted.model == "local":
        pull_weights(quiet=wanted.as_json)
    choices = Choices(root, model=wanted.model, as_json=wanted.as_json)

    async def work(interrupt: Interrupt) -> int:
        async with working(choices) as here:
            here.hint_at_interrupted()
            run = await here.studio.start(_RECIPE, {"description": wanted.task})
            here.announce(run)
            followed = await follow(here.studio, run.id, here.view(), interrupt)
            return _conclude(here, followed, wanted)

    return perform(work)


def _conclude(here: OpenWork, followed: Followed, wanted: Demonstration) -> int:
    if wanted.as_json or not followed.run.is_terminal:
        return conclude(here.studio, followed, as_json=wanted.as_json)
    report = read_scene_report(here.studio, followed.run)
    if not report.checks:
        # It ended before there was a scene to show.
        return conclude(here.studio, followed, as_json=False)
    echo_scene_report(report)
    code = exit_code_of(followed)
    if code != exits.OK:
        conclude(here.studio, followed, as_json=False)
    else:
        _tell_cost(here, followed.run)
    _tell_what_next(wanted)
    return code


def set_up(folder: Path) -> Path:
    """Put the sample project into a folder; what is already there stays as it is."""
    return initiate(Initiated(folder, _PACK, with_sample=True)).root


def _tell_cost(here: OpenWork, run: RunRecord) -> None:
    steps = here.studio.database.read(lambda connection: load_journal(connection, run)).values()
    calls = [step.detail for step in steps if step.detail.get("output_tokens")]
    given = sum(int(call.get("input_tokens") or 0) for call in calls)
    said = sum(int(call["output_tokens"]) for call in calls)
    took = seconds(run.updated_at - run.created_at)
    remark(
        f"\nDone in {took} with {len(calls)} model calls:"
        f" {number(given)} tokens read, {number(said)} written. `callboard usage` tells the rest."
    )


def _tell_what_next(wanted: Demonstration) -> None:
    if wanted.model == "local":
        remark(
            "The embedded model is tiny: it picks from what code offers it and finishes sentences."
            "\nA larger one writes the scene itself: `callboard auth` and `callboard models` help."
        )
    remark(f"\nWhat to try next:\n  cd {shlex.quote(str(wanted.folder))}")
    for command, told in (
        ('conference "Does scene 3 keep to canon?"', "the whole staff answers, with proof"),
        (
            'plan new "Draft scene 7 and check consistency of scenes 1 to 4"',
            "a wish becomes tasks that run in order",
        ),
        (
            "tool run consistency_checker --arg"
            ' file_paths=\'["Story/Scenes/SCN-02-the-apprentice.md",'
            ' "Story/Scenes/SCN-03-the-harbour-master.md"]\'',
            "a tool alone, without any model",
        ),
        ("runs show last", "every step of this run"),
        ("prompts list --run last", "what each agent was sent, to the letter"),
        ("runs fork last --set draft='The bell …'", "the same run with your own words"),
        ("receipts verify", "the proof of what the tools did"),
        ("recipes list", "what else the staff can do"),
    ):
        remark(f"  callboard {command}\n      {told}")
