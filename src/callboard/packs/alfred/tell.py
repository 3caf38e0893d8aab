"""What is printed about Alfred: turns, rows, imports and exports, what is asked once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from callboard.choreography.turn.requests import ReadResult, UndoResult, WriteResult
from callboard.choreography.turn.shapes import TurnOutcome
from callboard.cli.output import clean, counted, echo, echo_json, remark
from callboard.core.canonical import plain
from callboard.core.errors import CallboardError, InvalidInput, NotFound
from callboard.core.vocabulary import Entity
from callboard.packs.alfred.exchange import (
    FORMATS,
    export_calendar,
    export_recipes,
    export_shopping,
    import_recipes,
    read_recipes,
)
from callboard.packs.alfred.kitchen.recipes.recipe import ImportedRecipe
from callboard.packs.alfred.project import KitchenProject


def turn_report(outcome: TurnOutcome) -> None:
    """Print what Alfred answered; beside it what there is to know."""
    echo(clean(outcome.message))
    for warning in outcome.warnings:
        remark(clean(f"  note: {warning}"))


def entities_report(entities: Sequence[Entity], *, as_json: bool) -> None:
    """Print what a conversation is about, each with its state."""
    if as_json:
        echo_json([asdict(each) for each in entities])
        return
    if not entities:
        echo("Nothing is being talked about.")
    for each in entities:
        seen = f"turn {each.turn_last_ref}"
        pinned = ", pinned" if each.pinned else ""
        echo(clean(f"{each.state.value:<9}{each.type:<10} {each.label}  ({seen}{pinned})"))


def why_report(trace: Mapping[str, Any], *, as_json: bool) -> None:
    """Print why a turn did what it did."""
    if as_json:
        echo_json(dict(trace))
        return
    plan: dict[str, Any] = trace.get("plan") or {}
    echo(clean(f"You said: {trace['message']}"))
    echo(clean(f"Mode: {trace['mode']}. Goal: {plan.get('goal', 'answered without a plan')}"))
    results: dict[str, Any] = {each["step_id"]: each for each in trace.get("steps") or ()}
    for step in plan.get("steps") or ():
        ended = results.get(step["id"], {})
        echo(clean(f"  {step['id']} {step['step_type']}: {step['description']}"))
        if ended:
            echo(clean(f"      {ended['status']}: {ended['summary']}"))
    for assumed in trace.get("assumptions") or ():
        echo(clean(f"  assumed: {assumed}"))
    echo(f"{counted(len(trace.get('calls') or ()), 'model call')}")


def rows_report(
    result: ReadResult, lines: Sequence[str] | None, *, offset: int = 0, as_json: bool
) -> None:
    """Print rows as the kitchen tells them, else one a line; what is cut says how to see it."""
    if as_json:
        echo_json(result.model_dump(mode="json"))
        return
    for line in _plain_lines(result) if lines is None else lines:
        echo(clean(line))
    if result.truncated:
        shown = offset + result.row_count
        rest = result.total_count - shown
        if rest > 0:
            remark(f"… {rest} more: --offset {shown} shows them, --limit up to 200 at once")
    if not result.rows:
        echo("There is nothing.")


def write_report(result: WriteResult, *, as_json: bool) -> None:
    """Print what was changed."""
    if as_json:
        echo_json(result.model_dump(mode="json"))
        return
    done = {"created": result.created, "changed": result.updated, "deleted": result.deleted}
    told = ", ".join(f"{count} {name}" for name, count in done.items() if count) or "nothing"
    echo(clean(f"{told}: {', '.join(result.labels)}"))
    for note in result.notes:
        remark(clean(f"  note: {note}"))


def undo_report(result: UndoResult, *, as_json: bool) -> None:
    """Print what came back."""
    if as_json:
        echo_json(result.model_dump(mode="json"))
        return
    echo(clean(f"Taken back: {', '.join(result.labels) or 'nothing with a name'}"))
    for note in result.notes:
        remark(clean(f"  note: {note}"))


def _plain_lines(result: ReadResult) -> list[str]:
    shown = [
        {name: value for name, value in row.items() if value not in (None, "", [])}
        for row in result.rows
    ]
    return [
        "  ".join(f"{name}={value}" for name, value in row.items() if name not in _UNSHOWN)
        for row in shown
    ]


_UNSHOWN = frozenset({"id", "created_at", "updated_at", "version", "ingredient_id", "recipe_id"})


async def print_export(
    alfred: KitchenProject, what: str, names: Sequence[str], *, user: str | None, as_json: bool
) -> None:
    """Print it as it is, so that it can be sent into a file."""
    who = alfred.who(user)
    if what in FORMATS:
        texts = await export_recipes(alfred.kitchen, who, names, what)
        if as_json:
            echo_json(dict(texts))
        else:
            echo("\n\n".join(texts.values()))
        return
    match what:
        case "calendar":
            text = await export_calendar(alfred.kitchen, who, "@today", "@today+13d")
        case "shopping":
            text = await export_shopping(alfred.kitchen, who)
        case _:
            raise InvalidInput(
                f"{what!r} cannot be exported",
                fix=f"There are {', '.join(FORMATS)}, calendar and shopping.",
            )
    if as_json:
        echo_json({what: text})
    else:
        echo(text)


_SUFFIXES: Final = (".md", ".markdown", ".txt", ".json", ".jsonld", ".html", ".htm")


async def read_files(
    alfred: KitchenProject,
    paths: Sequence[Path],
    *,
    write: bool,
    user: str | None,
    as_json: bool,
    anyway: bool = False,
) -> None:
    """Read recipe files one by one; one that cannot be read does not keep the others."""
    told: list[object] = []
    stored = flagged = lines = 0
    for path in _files(paths):
        try:
            report = await read_recipes(path)
            refused: Mapping[str, str] = {}
            if write:
                taken = await import_recipes(alfred, alfred.who(user), path, anyway=anyway)
                stored, refused = stored + len(taken.written), taken.refused
        except CallboardError as error:
            told.append({"file": str(path), "error": error.message})
            if not as_json:
                remark(clean(f"{path.name}: {error.message}. {error.fix or ''}"))
            continue
        told.append({"file": str(path), **plain(asdict(report)), "refused": dict(refused)})
        _tell_refused([] if as_json else list(refused.values()))
        for recipe in report.recipes:
            lines += len(recipe.ingredients)
            flagged += sum(1 for line in recipe.ingredients if line.flags)
            if not as_json:
                _show(recipe)
    if as_json:
        echo_json(told)
        return
    echo(f"{counted(lines, 'line')}, {flagged} to look at; {counted(stored, 'recipe')} stored.")
    if not write:
        remark("Nothing was stored: --write does that.")


def _tell_refused(reasons: Sequence[str]) -> None:
    for reason in reasons:
        remark(clean(f"  not stored: {reason}. --anyway stores it all the same."))


def _show(recipe: ImportedRecipe) -> None:
    echo(clean(f"{recipe.name}: {counted(len(recipe.ingredients), 'ingredient')}"))
    if not recipe.ingredients:
        remark("  look at: no ingredients were found; a heading “Ingredients” helps")
    for line in recipe.ingredients:
        if line.flags:
            remark(clean(f"  look at: {line.raw}  ({', '.join(line.flags)})"))


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(each for each in path.rglob("*") if each.suffix in _SUFFIXES)
        elif path.is_file():
            yield path
        else:
            raise NotFound(f"There is no file {path}", fix="Name a file or a folder.")


async def answer_questions(
    alfred: KitchenProject, answers: Sequence[str], *, user: str | None, as_json: bool
) -> None:
    """Give answers, then print what is still open."""
    who = alfred.who(user)
    for each in answers:
        question, equals, answer = each.partition("=")
        if not equals:
            raise InvalidInput(
                f"{each!r} is no answer", fix="Write it as QUESTION=ANSWER; empty skips it."
            )
        await alfred.answer_onboarding(who, question.strip(), answer.strip())
    state = await alfred.onboarding(who)
    if as_json:
        left = [asdict(each) for each in state.open]
        echo_json(plain({"open": left, "answered": dict(state.answers)}))
        return
    if not state.open:
        echo("Everything has been asked.")
    for question in state.open:
        options = f"  ({', '.join(question.options)})" if question.options else ""
        echo(clean(f"{question.id}: {question.text}{options}"))
