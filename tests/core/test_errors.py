"""Errors carry a code, a tier, a way out, and survive the journal."""

import json
from pathlib import Path

import pytest

from callboard.core.canonical import canonical_json
from callboard.core.errors import (
    CallboardError,
    Conflict,
    ErrorRecord,
    ErrorTier,
    InvalidInput,
    NotFound,
    ProviderError,
)


def stored_and_read(record: ErrorRecord) -> ErrorRecord:
    return ErrorRecord.from_json(json.loads(canonical_json(record.to_json())))


@pytest.mark.parametrize("tier", ErrorTier)
def test_a_record_survives_the_journal(tier: ErrorTier) -> None:
    record = ErrorRecord("odd", "It is odd.", tier, "Even it out.", {"count": 3, "list": [1]})
    assert stored_and_read(record) == record
    assert stored_and_read(ErrorRecord("odd", "", tier)) == ErrorRecord("odd", "", tier)


def test_a_tier_of_a_newer_callboard_is_permanent() -> None:
    data = {"code": "x", "message": "y", "tier": "lunar"}
    assert ErrorRecord.from_json(data).tier is ErrorTier.PERMANENT


def test_only_what_time_can_mend_is_retryable() -> None:
    retryable = {tier for tier in ErrorTier if ErrorRecord("x", "y", tier).retryable}
    assert retryable == {
        ErrorTier.TRANSIENT,
        ErrorTier.EXTERNAL_RATE_LIMIT,
        ErrorTier.EXTERNAL_DEGRADING,
    }
    assert ProviderError("x", tier=ErrorTier.TRANSIENT).retryable
    assert not NotFound("x").retryable


@pytest.mark.parametrize("kind", [NotFound, InvalidInput, Conflict, ProviderError, CallboardError])
def test_every_error_records_its_code_message_and_fix(kind: type[CallboardError]) -> None:
    error = kind("There is no run 'x'.", fix="List them with `callboard runs`.", run="x")
    record = error.record()
    assert str(error) == record.message == "There is no run 'x'."
    assert record.code == kind.code
    assert record.fix == "List them with `callboard runs`."
    assert record.context == {"run": "x"}


def test_codes_are_distinct() -> None:
    kinds = (NotFound, InvalidInput, Conflict, ProviderError, CallboardError)
    assert len({kind.code for kind in kinds}) == len(kinds)


def test_a_provider_error_keeps_status_and_partial_text() -> None:
    error = ProviderError("cut off", status=502, headers={"retry-after": "3"}, partial="Once up")
    assert (error.status, error.partial, error.headers["retry-after"]) == (502, "Once up", "3")
    assert error.record().context == {"status": 502, "partial": "Once up"}


def test_context_that_json_cannot_hold_never_stops_an_error_from_being_journaled() -> None:
    record = NotFound("no file", path=Path("a/b"), sizes={1: float("inf")}).record()
    assert stored_and_read(record).context == {"path": "a/b", "sizes": {"1": "inf"}}
