"""How errors leave the door: one body for all, and a status that says who must act."""

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from callboard.core.canonical import Json, plain
from callboard.core.errors import CallboardError, Fault, ProviderError
from callboard.core.parsing import misfit

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_log = logging.getLogger(__name__)

_MOST_PROBLEMS: Final = 50

_STATUS_BY_CODE: Final = {
    "unknown_recipe": 400,
    "unknown_choreography": 400,
    "unknown_tool": 404,
    "invalid_args": 400,
    "path_outside_project": 400,
    "file_not_found": 404,
    "no_outline": 409,
    "too_many_files": 413,
    "unreadable": 422,
    "tool_timeout": 504,
    "work_too_long": 504,
    "tool_refused": 403,
    "nonce_invalid": 403,
    "agent_unavailable": 400,
    "template_not_found": 400,
    "missing_args": 400,
    "recipe_invalid": 400,
    "decomposition_invalid": 502,
    "file_changed": 409,
    "budget_exceeded": 402,
    "disk_full": 507,
    "checks_failed": 422,
    "edit_failed": 409,
    "edit_blocked": 409,
    "writer_only": 409,
    "not_enough_variants": 502,
    "unknown_model": 400,
    "file_model_refused": 400,
    "query_refused": 400,
    "write_refused": 422,
    "message_too_long": 413,
    "model_unavailable": 503,
    "database_busy": 503,
    "read_only": 503,
}
# A run keeps its error by code alone, so what a provider did is known by it.
_PROVIDER_CODES: Final = frozenset(
    {
        "provider_error",
        "provider_timeout",
        "invalid_reply",
        "missing_key",
        "key_not_tied",
        "circuit_open",
        "prompt_too_long",
        "script_exhausted",
        "weights_unusable",
        "rate_limited",
        "credential_paused",
        "cassette_miss",
    }
)
_STATUS_BY_FAULT: Final = {Fault.MISSING: 404, Fault.UNUSABLE: 400, Fault.STATE: 409}


class ErrorDetail(BaseModel):
    """What went wrong, for programs and for people."""

    code: str = Field(description="A stable name of the error.")
    message: str = Field(description="What is wrong, naming the value.")
    details: dict[str, Any] = Field(description="The way out (`fix`) and what else is known.")


class ErrorBody(BaseModel):
    """The body of every error."""

    error: ErrorDetail


ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {
        "description": HTTPStatus(status).phrase,
        # Named and not given as a model, which would be built anew for every route and status.
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}},
    }
    for status in (400, 401, 403, 404, 405, 408, 409, 413, 422, 500, 502, 503, 504)
}
"""What any operation may answer besides its success, for the OpenAPI document."""


def error_body(code: str, message: str, details: dict[str, Json] | None = None) -> dict[str, Json]:
    """Return the one body."""
    return {"error": {"code": code, "message": message, "details": details or {}}}


# A refused write says by its kind who must act.
_STATUS_BY_WRITE: Final = {
    "needs_confirmation": 409,
    "conflict": 409,
    "duplicate": 409,
    "not_found": 404,
    "limit": 413,
}


def status_of(error: CallboardError) -> int:
    """Return the HTTP status of an error."""
    if error.code == "write_refused" and error.context.get("kind") in _STATUS_BY_WRITE:
        return _STATUS_BY_WRITE[str(error.context["kind"])]
    known = _STATUS_BY_CODE.get(error.code)
    if known is not None:
        return known
    if error.code in _PROVIDER_CODES:
        return 502
    if error.fault is not None:
        return _STATUS_BY_FAULT[error.fault]
    return 502 if isinstance(error, ProviderError) else 500


def install(app: FastAPI) -> None:
    """Have every error answered with the one body."""
    app.add_exception_handler(CallboardError, _on_callboard_error)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(HTTPException, _on_http_exception)
    app.add_exception_handler(Exception, _on_surprise)


async def _on_callboard_error(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, CallboardError)  # noqa: S101 - the handler is registered for it
    details: dict[str, Json] = {**plain(error.context)}
    if error.fix:
        details["fix"] = error.fix
    return JSONResponse(error_body(error.code, error.message, details), status_of(error))


async def _on_invalid_request(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - the handler is registered for it
    problems = [
        {
            "field": ".".join(str(part) for part in each["loc"]),
            "problem": misfit(cast("ErrorDetails", each)),
        }
        for each in error.errors()[:_MOST_PROBLEMS]
    ]
    told = "; ".join(f"{each['field']}: {each['problem']}" for each in problems[:3])
    message = f"The request cannot be read: {told}"
    return JSONResponse(error_body("invalid_request", message, {"fields": problems}), 400)


async def _on_http_exception(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101 - the handler is registered for it
    code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
    return JSONResponse(
        error_body(code, str(error.detail)), error.status_code, headers=error.headers
    )


async def _on_surprise(request: Request, error: Exception) -> JSONResponse:
    _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    told = "Something went wrong inside Callboard; the server's log has the traceback"
    return JSONResponse(error_body("internal", told, {"type": type(error).__name__}), 500)
