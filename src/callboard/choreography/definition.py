"""`@choreography`: makes an async function over a stage something a pack can offer."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from typing import Any, get_type_hints

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput
from callboard.core.parsing import misfit
from callboard.engine.run import Run
from callboard.studio.runnable import Prepared
from callboard.studio.studio import Studio

Function = Callable[..., Awaitable[Json]]


class StagedFunction:
    """A choreography: the function, its arguments, and how a run of it is performed."""

    def __init__(self, function: Function) -> None:
        """Wrap a function whose first parameter is the stage."""
        self.function = function
        self.name = function.__name__

    @property
    def summary(self) -> str:
        """The first sentence of the function's docstring."""
        return (inspect.getdoc(self.function) or "").split("\n\n")[0].replace("\n", " ")

    @cached_property
    def parameters(self) -> Mapping[str, str]:
        """The arguments with their types and defaults, in words."""
        return {
            name: _describe(parameter, self._hints.get(name, str))
            for name, parameter in self._arguments.items()
        }

    @cached_property
    def _arguments(self) -> dict[str, inspect.Parameter]:
        return dict(list(inspect.signature(self.function).parameters.items())[1:])

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.function)

    async def prepare(self, _studio: Studio, raw: Mapping[str, Json]) -> Prepared:
        """Check arguments against the function's signature and return them as JSON."""
        return Prepared(self._parse(raw))

    def _parse(self, raw: Mapping[str, Json]) -> dict[str, Json]:
        from pydantic import TypeAdapter, ValidationError

        unknown = sorted(set(raw) - set(self._arguments))
        missing = sorted(
            name
            for name, parameter in self._arguments.items()
            if parameter.default is inspect.Parameter.empty and name not in raw
        )
        if unknown or missing:
            takes = ", ".join(f"{n} ({d})" for n, d in self.parameters.items()) or "nothing"
            told = [f"unknown: {', '.join(unknown)}"] if unknown else []
            told += [f"missing: {', '.join(missing)}"] if missing else []
            raise InvalidInput(
                f"{self.name} cannot start: {'; '.join(told)}",
                fix=f"It takes: {takes}.",
                missing_args=missing,
                unknown_args=unknown,
            )
        parsed: dict[str, Json] = {}
        for name, value in raw.items():
            adapter: TypeAdapter[Any] = TypeAdapter(self._hints.get(name, Any))
            try:
                parsed[name] = adapter.dump_python(adapter.validate_python(value), mode="json")
            except ValidationError as error:
                raise InvalidInput(
                    f"{self.name} cannot use {name}={value!r}: {misfit(error.errors()[0])}",
                    fix=f"{name} is {self.parameters[name]}.",
                    arg=name,
                ) from None
        return parsed

    async def perform(self, studio: Studio, run: Run) -> Json:
        """Execute one run of it."""
        return await self.function(Stage(studio, run), **run.args)


def choreography(function: Function) -> StagedFunction:
    """Declare a choreography; its first parameter is the stage, the others its arguments."""
    return StagedFunction(function)


def _describe(parameter: inspect.Parameter, hint: Any) -> str:
    kind = getattr(hint, "__name__", str(hint))
    if parameter.default is inspect.Parameter.empty:
        return f"{kind}, required"
    return f"{kind}, default {parameter.default!r}"
