"""The machine-readable description of the API, with what holds for all operations alike.

The entrance asks for a header that no route declares; who reads the description must find it.
"""

from typing import Any, Final

from fastapi import FastAPI

from callboard.api.entrance import CHANGE_HEADER, READING_METHODS
from callboard.api.failure import ErrorBody

_OPERATIONS: Final = frozenset({"get", "put", "post", "delete", "options", "head", "patch"})


class DescribedApi(FastAPI):
    """An application whose description names the header for changes and the form of errors."""

    needs_change_header: bool = True

    def openapi(self) -> dict[str, Any]:
        """Return the description; it is made once."""
        before = self.openapi_schema
        schema = super().openapi()
        if schema is not before:
            self._name_header(schema)
            _describe_errors(schema)
        return schema

    def warm_up(self) -> None:
        """Have the routes made ready, which the first requests would wait for otherwise."""
        nowhere: dict[str, Any] = {"type": "http", "method": "GET", "path": "/-", "root_path": ""}
        for route in self.routes:
            route.matches({**nowhere, "headers": [], "app": self})

    def _name_header(self, schema: dict[str, Any]) -> None:
        header: dict[str, Any] = {
            "name": CHANGE_HEADER,
            "in": "header",
            "required": self.needs_change_header,
            "description": "Any text; keeps web pages of others from changing anything here."
            " Not needed by who shows the token.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 100, "example": "1"},
        }
        for method, operation in _operations(schema):
            if method.upper() not in READING_METHODS:
                operation.setdefault("parameters", []).append(header)


def _describe_errors(schema: dict[str, Any]) -> None:
    shape = ErrorBody.model_json_schema(ref_template="#/components/schemas/{model}")
    schema["components"]["schemas"].update(shape.pop("$defs"), ErrorBody=shape)


def _operations(schema: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (method, operation)
        for item in schema["paths"].values()
        for method, operation in item.items()
        if method in _OPERATIONS
    ]
