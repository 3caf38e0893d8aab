"""Commands read off operations: arguments and options come from the declaration."""

import inspect
import json
from collections.abc import Callable, Iterable
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic.fields import FieldInfo

from callboard.cli.options import JsonOption, ProjectOption
from callboard.core.errors import InvalidInput
from callboard.operations import Operation, Operations
from callboard.studio.studio import Studio


def add_commands(
    app: typer.Typer,
    operations: Iterable[Operation[..., Any]],
    opened: Callable[[Studio], Operations],
) -> None:
    """Give an app the command of every operation that has one."""
    for each in operations:
        if each.command is not None:
            app.command(each.command, help=each.summary)(_command(each, opened))


def _command(
    wanted: Operation[..., Any], opened: Callable[[Studio], Operations]
) -> Callable[..., int]:
    def command(project: Any, as_json: bool, **given: Any) -> int:
        from callboard.cli import exits
        from callboard.cli.bridge import perform_simply
        from callboard.cli.handlers.opening import Choices, working
        from callboard.cli.output import clean, echo, echo_json

        async def work() -> int:
            async with working(Choices(project, as_json=as_json)) as here:
                made = await opened(here.studio).perform(wanted, **_values(wanted, given))
            if as_json:
                echo_json(wanted.result.dump_python(made, mode="json"))
            else:
                echo(clean(wanted.tell(made) if wanted.tell is not None else "Done."))
            return exits.OK

        return perform_simply(work())

    parameters = [_parameter(name, each) for name, each in wanted.arguments.model_fields.items()]
    parameters.append(_named("project", ProjectOption, None))
    parameters.append(_named("as_json", JsonOption, False))
    vars(command)["__signature__"] = inspect.Signature(parameters)
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__name__ = wanted.name
    return command


def _parameter(name: str, field: FieldInfo) -> inspect.Parameter:
    kind = _plain(field.annotation) or str
    shown = name.upper()
    told = field.description or ""
    if field.is_required():
        argument = typer.Argument(metavar=shown, help=told, show_default=False)
        return _named(name, Annotated[kind, argument])
    if kind is bool:
        flag = f"--{name.replace('_', '-')}"
        return _named(name, Annotated[bool, typer.Option(flag, help=told)], False)
    option = typer.Option(
        f"--{name.replace('_', '-')}", metavar=shown, help=told, show_default=False
    )
    return _named(name, Annotated[kind | None, option], None)


def _named(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=annotation, default=default)


def _values(wanted: Operation[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return what was given; what has no plain form is written as JSON."""
    values: dict[str, Any] = {}
    for name, value in given.items():
        if value is None or value == []:
            continue
        is_json = _plain(wanted.arguments.model_fields[name].annotation) is None
        values[name] = _read(name, value) if is_json else value
    return values


def _read(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidInput(
            f"{name} is not JSON: {error}", fix=f"Write {name.upper()} as JSON, in quotes."
        ) from error


def _plain(annotation: Any) -> Any:
    """Return the type the command line reads a value as; None if it has no plain form."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _plain(get_args(annotation)[0])
    if origin in (Union, UnionType):
        real = [each for each in get_args(annotation) if each is not type(None)]
        return _plain(real[0]) if len(real) == 1 else None
    if origin is Literal:
        return str
    if origin in (list, tuple):
        return list[str] if _plain(get_args(annotation)[0]) is str else None
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return annotation
    return annotation if annotation in (str, int, float, bool) else None
