"""`callboard demo`: the sample novel, the embedded model, one scene drafted, every step shown."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from callboard.cli import exits
from callboard.cli.bridge import Interrupt, perform
from callboard.cli.handlers.ending import conclude
from callboard.cli.handlers.following import Followed, follow
from callboard.cli.handlers.initiating import Initiated, initiate
from callboard.cli.handlers.opening import Choices, OpenWork, working
from callboard.cli.options import JsonOption, ModelOption, ProjectOption, new_app
from callboard.cli.output import number, remark, seconds
from callboard.cli.reports.models import pull_weights
from callboard.cli.reports.recipe_runs import echo_recipe_report, read_recipe_report
from callboard.core.vocabulary.run import RunRecord
from callboard.store.journal.steps import load_journal

_PACK: Final = "control_room"
_RECIPE: Final = "control_room/creative_draft_scene"
app = new_app("Draft a scene of the sample novel with the embedded model.")


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
    report = read_recipe_report(here.studio, followed.run)
    if not report.checks:
        # It ended before there was a scene to show.
        return conclude(here.studio, followed, as_json=False)
    code = followed.exit_code
    if code != exits.OK:
        conclude(here.studio, followed, as_json=False)
    else:
        echo_recipe_report(report)
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


@app.command(no_args_is_help=False)
def demo(
    folder: Annotated[
        Path, typer.Option("--dir", metavar="FOLDER", help="Where the sample novel is put.")
    ] = Path("callboard-demo"),
    task: Annotated[
        str, typer.Option("--task", metavar="TEXT", help="What the staff is asked to do.")
    ] = "Draft scene 5, The Long Bell",
    model: ModelOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Draft a scene of the sample novel with the embedded model.

    Puts a short novel with outline and canon cards into a folder, fetches the embedded model if it
    is not here, and has three tools and five agents draft, check and judge the scene that is
    missing. No key, no account, no server.
    """
    wanted = Demonstration(project or folder, task, model or "local", as_json)
    return demonstrate(wanted)
