"""Planning at the command line: outlines proposed, approved or read from a file; scaffolds."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, cast

from callboard.cli.arguments import read_arguments, read_text
from callboard.cli.handlers.opening import Choices
from callboard.cli.output import echo, echo_json
from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput, NotFound
from callboard.core.parsing import FileProblem, parse_yaml
from callboard.packs.writers_factory.doors.command_line import Job, enter, watch
from callboard.packs.writers_factory.doors.tell.outlines import approved_report, proposal_report
from callboard.packs.writers_factory.doors.tell.scenes import scaffold_report
from callboard.packs.writers_factory.factory import Factory
from callboard.packs.writers_factory.manuscript import outline_from_json
from callboard.packs.writers_factory.manuscript.operations import restore_outline as bring_back
from callboard.packs.writers_factory.model import PlannedScene
from callboard.packs.writers_factory.scenes import operations

_LISTS: Final = ("characters_present", "world_rules")


def propose_outline(
    choices: Choices, session: str | None, size: dict[str, int | None] | None = None
) -> int:
    """Have scenes proposed and show them; `size` is what the writer chose of it."""
    chosen: dict[str, Json] = {name: each for name, each in (size or {}).items() if each}

    def tell(factory: Factory, _result: Any) -> None:
        waiting = factory.rooms.scenes.outline_proposal()
        if waiting is not None:
            proposal_report(*waiting)

    return watch(choices, Job("plan_scenes", chosen, session), tell)


def approve_outline(choices: Choices, source: str | None) -> int:
    """Take the proposed outline, or the one in a file."""
    own = None if source is None else read_outline(source)
    outline = None if own is None else list(own)
    return _replace(choices, lambda factory: factory.perform(operations.approve_outline, outline))


def restore_outline(choices: Choices, number: int) -> int:
    """Bring an outline back that was replaced."""
    return _replace(choices, lambda factory: factory.perform(bring_back, number))


def _replace(
    choices: Choices, take: Callable[[Factory], Awaitable[tuple[PlannedScene, ...]]]
) -> int:
    async def act(factory: Factory) -> None:
        before = factory.rooms.manuscript.outline_versions()
        taken = await take(factory)
        approved_report(taken, before[-1] if before else None, as_json=choices.as_json)

    return enter(choices, act)


def read_outline(name: str) -> tuple[PlannedScene, ...]:
    """Read an outline: a list of scenes, or an object with one, as the command shows it."""
    try:
        content: Any = parse_yaml(read_text(name))
    except FileProblem as problem:
        raise InvalidInput(problem.at(name), fix="Give JSON or YAML.", path=name) from problem
    if isinstance(content, dict):
        known = cast("dict[str, Any]", content)
        content = known.get("outline") or known.get("scenes")
    if not isinstance(content, list):
        raise InvalidInput(
            f"{name} holds no list of scenes",
            fix="Write a list of {chapter, scene, title, beat_number, summary, word_target}.",
            path=name,
        )
    return outline_from_json(cast("list[Any]", content))


def show_scaffold(choices: Choices, scaffold_id: str, version: int | None = None) -> int:
    """Show a scaffold that was made before."""

    def act(factory: Factory) -> None:
        scenes = factory.rooms.scenes
        if scenes.scaffold(scaffold_id) is None:
            raise NotFound(
                f"There is no scaffold for {scaffold_id}",
                fix="Leave --show out to make one.",
                scaffold_id=scaffold_id,
            )
        found = scenes.require_scaffold(scaffold_id, version=version)
        scaffold_report(found, as_json=choices.as_json)

    return enter(choices, act)


def drop_scene(choices: Choices, scene_id: str) -> int:
    """Remove a scene that is neither planned nor written."""

    async def act(factory: Factory) -> None:
        dropped = await factory.perform(operations.drop_scene, scene_id)
        if choices.as_json:
            echo_json({"dropped": dropped.scene_id})
        else:
            echo(f"Removed: {dropped.scene_id}")

    return enter(choices, act)


def read_changes(pairs: Sequence[str]) -> dict[str, Json]:
    """Read what a writer changes in a scaffold."""
    given = read_arguments(pairs, None, "--set")
    for name in _LISTS:
        value = given.get(name)
        if isinstance(value, str):
            given[name] = [each.strip() for each in value.split(";") if each.strip()]
    return given
