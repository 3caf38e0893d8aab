"""`callboard quest demo`: a book grown by code, named by the embedded model, judged and bound."""

import shlex
from pathlib import Path

from callboard.cli.bridge import Interrupt, perform
from callboard.cli.handlers.ending import conclude, exit_code_of
from callboard.cli.handlers.following import follow
from callboard.cli.handlers.initiating import Initiated, initiate
from callboard.cli.handlers.opening import Choices, working
from callboard.cli.output import echo, remark
from callboard.cli.reports.models import pull_weights


def demonstrate(folder: Path, seed: int, model: str, *, as_json: bool) -> int:
    """Show it, and return the exit code of the run."""
    root = initiate(Initiated(folder, "questfoundry")).root
    if model == "local":
        pull_weights(quiet=as_json)

    async def work(interrupt: Interrupt) -> int:
        async with working(Choices(root, model=model, as_json=as_json)) as here:
            run = await here.studio.start("questfoundry/grow", {"seed": seed})
            here.announce(run)
            followed = await follow(here.studio, run.id, here.view(), interrupt)
            if as_json or exit_code_of(followed):
                return conclude(here.studio, followed, as_json=as_json)
            result = followed.run.result
            echo(f"{result['title']}: {result['sections']} sections, {result['decision']}")
            for bar, status in result["bars"].items():
                echo(f"  {bar}: {status}")
            for path in result["files"]:
                echo(str(root / path))
            remark(f"\nPlay it: cd {shlex.quote(str(root))} && callboard quest play")
            return 0

    return perform(work)
