"""`callboard quest`: loops, units, story hooks, snapshots and files of a branching book."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from callboard.cli.options import JsonOption, ModelOption, ProjectOption, new_app

if TYPE_CHECKING:
    from callboard.packs.questfoundry.foundry import Foundry

app = new_app("A branching book: write it in loops, prove it, bind it.")
tu_app = new_app("Units of work: what each loop set out to do, and how far it is.")
hooks_app = new_app("Story hooks: ideas and loose ends.")
loop_app = new_app("One loop.")
role_app = new_app("One role, asked directly.")
context_app = new_app("How much the Showrunner is shown.")
prompts_app = new_app("The texts that roles are made of.")
lessons_app = new_app("What retros taught.")
waivers_app = new_app("Waivers: red findings that you let pass, for a while.")
for name, group in (
    ("tu", tu_app),
    ("hooks", hooks_app),
    ("loop", loop_app),
    ("role", role_app),
    ("context", context_app),
    ("prompts", prompts_app),
    ("lessons", lessons_app),
    ("waivers", waivers_app),
):
    app.add_typer(group, name=name)

LoopArgument = Annotated[str, typer.Argument(metavar="LOOP", help="Id of a loop, or an alias.")]
UnitArgument = Annotated[str, typer.Argument(metavar="TU", help="Id of a unit.")]
BatchOption = Annotated[
    bool, typer.Option("--batch", help="Ask nobody: take what is safe, or stop.")
]
PolicyOption = Annotated[
    str, typer.Option("--policy", metavar="POLICY", help="Who decides: llm or playbook.")
]
AwakeOption = Annotated[
    list[str] | None,
    typer.Option("--awake", metavar="ROLE", help="An optional role that is awake."),
]
InputOption = Annotated[
    list[str] | None,
    typer.Option("--input", metavar="ARTIFACT", help="An artifact to start from."),
]
BriefOption = Annotated[
    str, typer.Option("--brief", metavar="TEXT", help="What you want, in your words.")
]


def read_in(project: Path | None, work: "Callable[[Foundry], Any]") -> Any:
    """Open the project, read something, close it."""
    from callboard.cli.bridge import perform_simply
    from callboard.cli.handlers.opening import Choices, working
    from callboard.packs.questfoundry.foundry import foundry_of

    async def act() -> Any:
        async with working(Choices(project)) as here:
            return work(foundry_of(here.studio))

    return perform_simply(act())


def start_loop(
    project: Path | None,
    model: str | None,
    as_json: bool,
    name: str,
    args: Any,
    *,
    verbose: bool = False,
) -> int:
    """Start a run, show a line for each of its steps or all that happens, tell how it ended."""
    from callboard.cli.bridge import Interrupt, perform
    from callboard.cli.handlers.following import follow
    from callboard.cli.handlers.opening import Choices, working
    from callboard.packs.questfoundry.doors.telling import conclude_loop
    from callboard.packs.questfoundry.doors.watching import LoopWatch

    async def work(interrupt: Interrupt) -> int:
        async with working(Choices(project, model=model, as_json=as_json)) as here:
            run = await here.studio.start(f"questfoundry/{name}", args)
            here.announce(run)
            view = here.view() if verbose or as_json else LoopWatch(here.view())
            followed = await follow(here.studio, run.id, view, interrupt)
            return conclude_loop(here.studio, followed, as_json=as_json)

    return perform(work)


def start_run(project: Path | None, model: str | None, as_json: bool, name: str, args: Any) -> int:
    """Start a run that is no loop, and print what it gives."""
    from callboard.cli.bridge import Interrupt, perform
    from callboard.cli.handlers.opening import Choices, working

    async def work(interrupt: Interrupt) -> int:
        async with working(Choices(project, model=model, as_json=as_json)) as here:
            run = await here.studio.start(f"questfoundry/{name}", args)
            here.announce(run)
            return await here.follow(run.id, interrupt)

    return perform(work)


def _inputs(named: list[str] | None) -> dict[str, str]:
    return {f"input{number}": each for number, each in enumerate(named or (), start=1)}


@app.command("init")
def init_command(
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What the book is called.")],
    author: Annotated[str, typer.Option("--author", metavar="NAME", help="Who writes it.")] = "",
    genre: Annotated[str, typer.Option("--genre", metavar="TEXT", help="Its genre.")] = "",
    language: Annotated[
        str, typer.Option("--language", metavar="TAG", help="Its language, such as en.")
    ] = "en",
    tone: Annotated[str, typer.Option("--tone", metavar="TEXT", help="How it sounds.")] = "",
    sections: Annotated[
        int, typer.Option("--sections", min=1, metavar="NUMBER", help="How long it shall be.")
    ] = 40,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Begin a book: its plan, a first style guide, an empty snapshot, its IFID."""
    from callboard.packs.questfoundry.operations import begin_book

    args = {"author": author, "genre": genre, "language": language, "tone": tone}
    return operate(project, as_json, begin_book, title, **args, target_sections=sections)


def operate(project: Path | None, as_json: bool, wanted: Any, *args: Any, **more: Any) -> int:
    """Have an operation done and print what it gives."""
    from callboard.cli.bridge import perform_simply
    from callboard.cli.handlers.opening import Choices, working
    from callboard.cli.output import clean, echo, echo_json
    from callboard.core.canonical import compact_json
    from callboard.packs.questfoundry.doors.telling import GATE_BLOCK
    from callboard.packs.questfoundry.operations import operations_on

    async def act() -> int:
        async with working(Choices(project, as_json=as_json)) as here:
            made = await operations_on(here.studio).perform(wanted, *args, **more)
        if as_json:
            echo_json(made)
        elif wanted.tell is not None:
            echo(clean(wanted.tell(made)))
        else:
            rows = cast("dict[str, Any]", made if isinstance(made, dict) else {wanted.name: made})
            for name, value in rows.items():
                echo(clean(f"{name}: {value}"))
        return GATE_BLOCK if '"decision":"block"' in compact_json(made) else 0

    return perform_simply(act())


@app.command()
def loops(
    as_yaml: Annotated[bool, typer.Option("--yaml", help="As the Showrunner reads them.")] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """List the loops: those of the pack, and the project's own."""
    from callboard.cli.output import echo_json, echo_table, echo_text, remark

    def work(foundry: "Foundry") -> tuple[Any, str, tuple[str, ...]]:
        return foundry.registry.loops(), foundry.registry.rendered, foundry.loop_problems

    found, rendered, problems = read_in(project, work)
    if as_yaml:
        echo_text(rendered)
    elif as_json:
        echo_json({"loops": [each.id for each in found], "problems": list(problems)})
    else:
        echo_table(("LOOP", "PURPOSE"), [(each.id, each.purpose) for each in found])
    for each in problems:
        remark(each)
    return 1 if problems else 0


@loop_app.callback()
def one_loop() -> None:
    """Look at one loop."""


@loop_app.command("show")
def show_loop(
    loop: LoopArgument, project: ProjectOption = None, as_json: JsonOption = False
) -> None:
    """Show the steps of a loop, who does them, and when it is stable."""
    from callboard.cli.output import echo, echo_json, echo_table

    found = read_in(project, lambda foundry: foundry.registry.get(loop))
    if as_json:
        echo_json(found.model_dump(mode="json"))
        return
    echo(f"{found.name}: {found.purpose}\n")
    rows = [
        (
            each.id,
            ", ".join(each.roles) or f"code: {each.code}",
            ", ".join(str(need) for need in each.requires) or "-",
            ", ".join(each.produces) or "-",
            str(each.required).lower(),
        )
        for each in found.steps
    ]
    echo_table(("STEP", "BY", "NEEDS", "MAKES", "REQUIRED"), rows)
    parts = [f"{role} {''.join(sorted(p.value for p in ps))}" for role, ps in found.raci.items()]
    echo(f"\nRACI: {', '.join(parts)}\nStable when: {found.stability.value}, nothing to revise")


@app.command()
def run(
    loop: LoopArgument,
    batch: BatchOption = False,
    policy: PolicyOption = "",
    inputs: InputOption = None,
    awake: AwakeOption = None,
    brief: BriefOption = "",
    upstream: Annotated[
        list[str] | None, typer.Option("--upstream", metavar="TU", help="A unit to build on.")
    ] = None,
    model: ModelOption = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show every event, not a line for each step.")
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Run a loop until it is stable, or until it needs you."""
    found = read_in(project, lambda foundry: foundry.registry.get(loop).id)
    args = {"is_interactive": not batch, "policy": policy, "awake": awake or [], "brief": brief}
    args |= {"inputs": _inputs(inputs), "upstream": upstream or []}
    return start_loop(project, model, as_json, found, args, verbose=verbose)


@app.command("next")
def next_command(
    policy: PolicyOption = "",
    model: ModelOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Say which loop should come next, and why."""
    return start_run(project, model, as_json, "next_loop", {"policy": policy})


@app.command()
def chain(
    loop: LoopArgument,
    most: Annotated[
        int, typer.Option("--max", min=1, metavar="NUMBER", help="So many loops at most.")
    ] = 6,
    batch: BatchOption = False,
    policy: PolicyOption = "",
    awake: AwakeOption = None,
    brief: BriefOption = "",
    model: ModelOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Run loops one after the other, as far as each hands its work on.

    The exit code is that of the last loop: 0 it succeeded, 1 it failed, 3 it stalled or waits for
    you, 4 its gate blocks.
    """
    first = read_in(project, lambda foundry: foundry.registry.get(loop).id)
    args = {"first": first, "most": most, "is_interactive": not batch}
    args |= {"policy": policy, "brief": brief, "awake": ",".join(awake or ())}
    return start_loop(project, model, as_json, "chain", args)


@app.command()
def resume(
    tu: UnitArgument,
    batch: BatchOption = False,
    policy: PolicyOption = "",
    awake: AwakeOption = None,
    model: ModelOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Go on with a unit; what it made and is still valid is kept."""
    from callboard.packs.questfoundry.doors.telling import loop_to_resume

    found = read_in(project, lambda foundry: loop_to_resume(foundry, tu))
    args = {"unit": tu, "is_interactive": not batch, "policy": policy, "awake": awake or []}
    return start_loop(project, model, as_json, found, args)
