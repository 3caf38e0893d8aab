"""Operations: what can be done, declared once; every door, model and receipt reads it off there."""

from callboard.operations.declaration import (
    AGENT,
    USER,
    Does,
    Operation,
    OperationInvalid,
    Route,
    operation,
)
from callboard.operations.performing import (
    Finder,
    Operations,
    Refusal,
    Rights,
    lending,
    open_operations,
    operations_of,
)

__all__ = [
    "AGENT",
    "USER",
    "Does",
    "Finder",
    "Operation",
    "OperationInvalid",
    "Operations",
    "Refusal",
    "Rights",
    "Route",
    "lending",
    "open_operations",
    "operation",
    "operations_of",
]
