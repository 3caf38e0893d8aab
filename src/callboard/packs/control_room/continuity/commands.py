"""`callboard continuity`: where the whole book contradicts itself, and what nobody has judged."""

from typing import Annotated, Any, Final, cast

import typer

from callboard.cli.options import JsonOption, ModelOption, ProjectOption, SessionOption, new_app

app = new_app("Check the whole book against itself.")
_RUN: Final = "control_room/continuity"


@app.command()
def continuity(
    judge: Annotated[
        bool,
        typer.Option("--judge", help="Let a model judge the passages that rules cannot judge."),
    ] = False,
    pairs: Annotated[
        int | None,
        typer.Option(
            "--pairs",
            min=0,
            metavar="COUNT",
            help="At most so many pairs of passages; by default what the story settings say.",
            show_default=False,
        ),
    ] = None,
    model: ModelOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Check the whole book against itself.

    Rules read facts, people and time. Passages that could contradict each other and that no rule
    can judge are counted; with --judge a model judges them, each pair once for good.
    """
    from callboard.cli.bridge import Interrupt, perform
    from callboard.cli.handlers.ending import conclude
    from callboard.cli.handlers.following import follow
    from callboard.cli.handlers.opening import Choices, working
    from callboard.core.vocabulary.run import RunState

    async def work(interrupt: Interrupt) -> int:
        async with working(Choices(project, model=model, as_json=as_json)) as here:
            args = {"judge": judge} if pairs is None else {"judge": judge, "pairs": pairs}
            run = await here.studio.start(_RUN, args, session_id=session)
            here.announce(run)
            followed = await follow(here.studio, run.id, here.view(), interrupt)
            if as_json or followed.run.state is not RunState.DONE:
                return conclude(here.studio, followed, as_json=as_json)
            _tell(cast("dict[str, Any]", followed.run.result), is_judged=judge)
            return followed.exit_code

    return perform(work)


def _tell(report: dict[str, Any], *, is_judged: bool) -> None:
    from callboard.cli.output import clean, echo, number, remark

    if report["status"] == "NOT_CHECKED":
        echo(clean(f"Not checked: {report['reason']}"))
        return
    for finding in report["findings"]:
        echo(clean(f"{finding['severity']}  {finding['type']}: {finding['message']}"))
        for quote in finding["quotes"]:
            echo(clean(f"  {quote['path']}:{quote['line_start']}  “{quote['text']}”"))
    for warning in report["warnings"]:
        remark(clean(f"Warning: {warning}"))
    pairs = report["pairs"]
    files = len(report["files_checked"])
    found = len(report["findings"])
    echo(f"{found} found in {files} files." if found else f"Rules found nothing in {files} files.")
    echo(clean(f"{pairs['told']}."))
    if not is_judged and pairs["calls"]:
        remark(
            f"To have them judged: callboard continuity --judge --model NAME"
            f" (up to {number(pairs['calls'])} calls, about {number(pairs['tokens'])} tokens)."
        )
    if not found and pairs["not_judged"]:
        remark("That nothing was found says nothing about what was not judged.")
