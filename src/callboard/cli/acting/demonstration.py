"""The demonstration: sets the sample project up, runs the recipe, and says what to try next."""

import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.cli import exits
from callboard.cli.acting.opening import Choices, working
from callboard.cli.acting.pulling import pull_weights
from callboard.cli.bridge import Interrupt, perform
from callboard.cli.output import remark
from callboard.core.errors import NotFound
from callboard.studio.packs import installed_packs
from callboard.studio.project import Project

_PACK: Final = "examples"
_RECIPE: Final = "examples/recipe"


@dataclass(frozen=True, slots=True)
class Demonstration:
    """What is shown, where, and by which model."""

    folder: Path
    subject: str
    model: str
    as_json: bool = False


def demonstrate(wanted: Demonstration) -> int:
    """Show it, and return the exit code of the run."""
    root = set_up(wanted.folder)
    if not wanted.as_json:
        remark(f"The sample project lies in {wanted.folder}.")
    if wanted.model == "local":
        pull_weights(quiet=wanted.as_json)
    choices = Choices(root, model=wanted.model, as_json=wanted.as_json)

    async def work(interrupt: Interrupt) -> int:
        async with working(choices) as here:
            here.hint_at_interrupted()
            run = await here.studio.start(_RECIPE, {"subject": wanted.subject})
            here.announce(run)
            return await here.follow(run.id, interrupt)

    code = perform(work)
    if code == exits.OK and not wanted.as_json:
        _tell_what_next(wanted.folder)
    return code


def set_up(folder: Path) -> Path:
    """Put the sample project into a folder; what is already there stays as it is."""
    sample = next((pack.sample for pack in installed_packs() if pack.name == _PACK), None)
    if sample is None:
        raise NotFound(
            f"The pack {_PACK!r} is not installed, so there is no sample project",
            fix="Install Callboard anew.",
        )
    for source in sorted(sample.rglob("*")):
        target = folder / source.relative_to(sample)
        if source.is_dir() or target.exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return Project.init(folder).root


def _tell_what_next(folder: Path) -> None:
    where = f"--project {shlex.quote(str(folder))}"
    remark("\nWhat to try next:")
    for command, told in (
        ("runs show last", "every step of this run"),
        ("runs slot last draft", "what the writer wrote"),
        ("prompts list --run last", "what each agent was sent, to the letter"),
        ("runs fork last --set draft='The lighthouse …'", "the same run with your own words"),
        ("receipts verify", "the proof of what the tools did"),
        ("packs list", "what else can be run"),
    ):
        remark(f"  callboard {command} {where}\n      {told}")
