"""Routes read off operations: path, body and answer come from the declaration.

A route that answers something else than its operation takes `arguments_of` it, the body alone.
"""

import inspect
from collections.abc import Callable, Iterable
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Path, Query
from pydantic import BaseModel, ConfigDict, create_model
from pydantic.fields import FieldInfo

from callboard.api.project import OpenStudio
from callboard.operations import Operation, Operations
from callboard.studio.studio import Studio

_WITHOUT_BODY = frozenset({"GET", "DELETE"})


def operation_router(
    operations: Iterable[Operation[..., Any]],
    opened: Callable[[Studio], Operations],
    *,
    prefix: str,
    tag: str,
) -> APIRouter:
    """Return a router with the route of every operation that has one."""
    router = APIRouter(prefix=prefix, tags=[tag])
    for each in operations:
        if each.route is not None:
            router.add_api_route(
                each.route.path,
                _endpoint(each, opened),
                methods=[each.route.method],
                status_code=each.route.status,
                response_model=each.returns,
                name=each.name,
                description=each.summary,
            )
    return router


def arguments_of(wanted: Operation[..., Any], **called: str) -> Any:
    """Return the dependency that reads the arguments of an operation off the body of a request.

    `called` says which arguments the body has under other names.
    """
    inside = {
        called.get(name, name): (field.annotation, field)
        for name, field in wanted.arguments.model_fields.items()
    }
    names = {key: name for name, key in called.items()}

    async def read(body: BaseModel) -> dict[str, Any]:
        return {names.get(key, key): getattr(body, key) for key in type(body).model_fields}

    vars(read)["__signature__"] = inspect.Signature([_body(wanted.name, inside)])
    return Depends(read)


def _endpoint(wanted: Operation[..., Any], opened: Callable[[Studio], Operations]) -> Any:
    async def endpoint(studio: Studio, **given: Any) -> Any:
        body: BaseModel | None = given.pop("body", None)
        if body is not None:
            given |= {name: getattr(body, name) for name in type(body).model_fields}
        return await opened(studio).perform(wanted, **given)

    endpoint.__name__ = wanted.name
    endpoint.__doc__ = wanted.summary
    vars(endpoint)["__signature__"] = inspect.Signature(_parameters(wanted))
    return endpoint


def _parameters(wanted: Operation[..., Any]) -> list[inspect.Parameter]:
    assert wanted.route is not None  # noqa: S101 - only operations with a route come here
    parameters = [_parameter("studio", OpenStudio)]
    inside: dict[str, Any] = {}
    for name, field in wanted.arguments.model_fields.items():
        if f"{{{name}}}" in wanted.route.path:
            parameters.append(_parameter(name, Annotated[_annotation(field), Path()]))
        elif wanted.route.method in _WITHOUT_BODY:
            parameters.append(_parameter(name, Annotated[_annotation(field), Query()], field))
        else:
            inside[name] = (field.annotation, field)
    if inside:
        is_optional = all(not each[1].is_required() for each in inside.values())
        parameters.append(_body(wanted.name, inside, is_optional=is_optional))
    return parameters


def _body(called: str, inside: dict[str, Any], *, is_optional: bool = False) -> inspect.Parameter:
    model = create_model(f"{called}_body", __config__=ConfigDict(extra="forbid"), **inside)
    return inspect.Parameter(
        "body",
        inspect.Parameter.KEYWORD_ONLY,
        annotation=Annotated[model | None if is_optional else model, Body()],
        default=None if is_optional else inspect.Parameter.empty,
    )


def _annotation(field: FieldInfo) -> Any:
    return Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation


def _parameter(name: str, annotation: Any, field: FieldInfo | None = None) -> inspect.Parameter:
    default = inspect.Parameter.empty
    if field is not None and not field.is_required():
        default = field.get_default(call_default_factory=True)
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=annotation, default=default)
