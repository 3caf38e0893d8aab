"""Every error has one tier, found in a fixed order, through everything that wraps it."""

import errno
import json
import socket

import httpx
import pydantic
import pytest

from callboard.core.classify import Classifier, status_of
from callboard.core.errors import CallboardError, ErrorTier, InvalidInput, NotFound, ProviderError
from callboard.core.settings.errors import SortingRules

TRANSIENT = ErrorTier.TRANSIENT
PERMANENT = ErrorTier.PERMANENT
USER_FIXABLE = ErrorTier.USER_FIXABLE
RATE_LIMIT = ErrorTier.EXTERNAL_RATE_LIMIT
DEGRADING = ErrorTier.EXTERNAL_DEGRADING


class Answered(Exception):
    """An HTTP error the way client libraries raise it."""

    def __init__(self, status_code: int, message: str = "", body: object = None) -> None:
        super().__init__(message)
        self.status_code = status_code
        self.body = body


def validation_error() -> Exception:
    with pytest.raises(pydantic.ValidationError) as caught:
        pydantic.TypeAdapter(int).validate_python("x")
    return caught.value


def wrap(cause: BaseException, message: str = "the step failed") -> Exception:
    try:
        raise CallboardError(message) from cause
    except CallboardError as error:
        return error


@pytest.mark.req("ERR-01")
def test_five_tiers_with_their_ordinals() -> None:
    assert [(tier.name, tier.value) for tier in ErrorTier] == [
        ("TRANSIENT", 0),
        ("PERMANENT", 1),
        ("USER_FIXABLE", 2),
        ("EXTERNAL_RATE_LIMIT", 3),
        ("EXTERNAL_DEGRADING", 4),
    ]


@pytest.mark.req("ERR-11")
@pytest.mark.parametrize(
    ("error", "tier"),
    [
        (TimeoutError(), TRANSIENT),
        (ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"), TRANSIENT),
        (ConnectionResetError(), TRANSIENT),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), TRANSIENT),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), TRANSIENT),
        (socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"), TRANSIENT),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), TRANSIENT),
        (httpx.ReadTimeout(""), TRANSIENT),
        (httpx.RemoteProtocolError("incomplete chunked read"), TRANSIENT),
        (RuntimeError("the request timed out"), TRANSIENT),
        (Answered(529, "Overloaded"), TRANSIENT),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "x"), PERMANENT),
        (json.JSONDecodeError("Expecting value", "", 0), PERMANENT),
        (RuntimeError("invalid config: x"), PERMANENT),
        (RuntimeError("parse error in line 3"), PERMANENT),
        (RuntimeError("the reply violates the schema"), PERMANENT),
        (PermissionError(errno.EACCES, "Permission denied"), USER_FIXABLE),
        (OSError(errno.ENOSPC, "No space left on device"), USER_FIXABLE),
        (RuntimeError("no API key is set"), USER_FIXABLE),
        (RuntimeError("bad credentials"), USER_FIXABLE),
        (RuntimeError("your quota is used up"), USER_FIXABLE),
        (Answered(429), RATE_LIMIT),
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), DEGRADING),
        (ConnectionRefusedError(), DEGRADING),
        (Answered(500), DEGRADING),
        (Answered(502), DEGRADING),
        (Answered(503), DEGRADING),
        (Answered(504), DEGRADING),
    ],
    ids=repr,
)
def test_the_defaults_cover_what_every_installation_meets(
    error: Exception, tier: ErrorTier
) -> None:
    assert Classifier().tier_of(error) is tier


@pytest.mark.req("ERR-11")
def test_a_validation_error_of_pydantic_is_permanent() -> None:
    assert Classifier().tier_of(validation_error()) is PERMANENT


@pytest.mark.req("ERR-07")
@pytest.mark.parametrize(
    ("error", "tier"),
    [
        (Answered(429, "unauthorized, schema, timed out"), RATE_LIMIT),
        (Answered(503, "unauthorized, schema, timed out"), DEGRADING),
        (RuntimeError("timed out: schema not found, unauthorized"), USER_FIXABLE),
        (RuntimeError("timed out: schema not found"), PERMANENT),
        (RuntimeError("timed out"), TRANSIENT),
        (RuntimeError("hm"), PERMANENT),
    ],
    ids=repr,
)
def test_the_first_hit_of_the_fixed_order_wins(error: Exception, tier: ErrorTier) -> None:
    assert Classifier().tier_of(error) is tier


@pytest.mark.req("ERR-07")
def test_a_status_in_both_lists_is_a_rate_limit() -> None:
    both = Classifier(SortingRules(rate_limit_statuses=(503,), degrading_statuses=(503,)))
    assert both.tier_of(Answered(503)) is RATE_LIMIT


@pytest.mark.req("ERR-07", "ERR-11")
def test_the_order_of_patterns_holds_across_a_chain() -> None:
    assert Classifier().tier_of(wrap(RuntimeError("unauthorized"), "timed out")) is USER_FIXABLE


@pytest.mark.req("ERR-08")
@pytest.mark.parametrize("status", [401, 402, 403])
def test_refused_access_is_for_the_user_to_mend(status: int) -> None:
    assert Classifier().tier_of(Answered(status)) is USER_FIXABLE


@pytest.mark.req("ERR-08")
def test_a_status_in_no_list_is_sorted_by_its_words() -> None:
    assert Classifier().tier_of(Answered(408, "request timed out")) is TRANSIENT
    assert Classifier().tier_of(Answered(404, "model not found")) is PERMANENT


def test_a_number_in_a_message_is_not_a_status() -> None:
    assert Classifier().tier_of(RuntimeError("line 401 of 403")) is PERMANENT


def test_exhausted_quota_is_not_a_rate_limit_although_it_says_429() -> None:
    exhausted = Answered(429, "Error", body={"error": {"code": "insufficient_quota"}})
    assert Classifier().tier_of(exhausted) is USER_FIXABLE
    assert Classifier().tier_of(wrap(exhausted)) is USER_FIXABLE


@pytest.mark.parametrize(
    "message",
    [
        "Rate limit reached. Add a payment method at /account/billing to raise it.",
        "Quota exceeded for requests per minute. Please retry in 34 s.",
    ],
)
def test_a_quota_that_refills_by_itself_is_a_rate_limit(message: str) -> None:
    assert Classifier().tier_of(Answered(429, message)) is RATE_LIMIT


@pytest.mark.req("ERR-09")
def test_an_unknown_error_is_permanent() -> None:
    assert Classifier().tier_of(RuntimeError("something odd")) is PERMANENT
    assert Classifier().tier_of(KeyError("x")) is PERMANENT
    assert not Classifier().record(RuntimeError("something odd")).retryable


@pytest.mark.req("ERR-10")
def test_patterns_are_regular_expressions_and_all_lists_are_the_users() -> None:
    mine = Classifier(
        SortingRules(
            transient_patterns=(r"moon (is|was) full",),
            permanent_patterns=(r"^never\b",),
            user_fixable_patterns=(),
            rate_limit_statuses=(420,),
            degrading_statuses=(599,),
        )
    )
    assert mine.tier_of(RuntimeError("The MOON was full")) is TRANSIENT
    assert mine.tier_of(RuntimeError("never again, the moon is full")) is PERMANENT
    assert mine.tier_of(RuntimeError("unauthorized: the moon is full")) is TRANSIENT
    assert mine.tier_of(Answered(420)) is RATE_LIMIT
    assert mine.tier_of(Answered(599)) is DEGRADING
    assert mine.tier_of(Answered(503)) is PERMANENT


@pytest.mark.req("ERR-11")
@pytest.mark.parametrize(
    ("cause", "tier"),
    [
        (Answered(429), RATE_LIMIT),
        (Answered(503), DEGRADING),
        (ConnectionResetError(), TRANSIENT),
        (ConnectionRefusedError(), DEGRADING),
        (PermissionError(), USER_FIXABLE),
        (RuntimeError("unauthorized"), USER_FIXABLE),
    ],
    ids=repr,
)
def test_wrapping_does_not_hide_the_tier(cause: Exception, tier: ErrorTier) -> None:
    assert Classifier().tier_of(wrap(wrap(cause))) is tier
    assert Classifier().tier_of(ExceptionGroup("branches", [wrap(cause)])) is tier


@pytest.mark.req("ERR-11")
def test_an_error_raised_while_handling_another_is_seen_through() -> None:
    with pytest.raises(RuntimeError) as caught:
        try:
            raise ConnectionResetError
        except ConnectionResetError:
            raise RuntimeError("could not go on")  # noqa: B904 - the implicit context is meant
    assert Classifier().tier_of(caught.value) is TRANSIENT


def test_a_cause_put_aside_on_purpose_is_not_looked_at() -> None:
    with pytest.raises(RuntimeError) as caught:
        try:
            raise ConnectionResetError
        except ConnectionResetError:
            raise RuntimeError("could not go on") from None
    assert Classifier().tier_of(caught.value) is PERMANENT


def test_a_chain_that_bites_its_tail_ends() -> None:
    first, second = RuntimeError("a"), RuntimeError("b")
    first.__cause__, second.__cause__ = second, first
    assert Classifier().tier_of(first) is PERMANENT


def test_a_declared_tier_stands_whatever_the_words_say() -> None:
    assert Classifier().tier_of(NotFound("no run named 'timeout-api-key'")) is PERMANENT
    assert Classifier().tier_of(ProviderError("odd", tier=TRANSIENT)) is TRANSIENT
    assert Classifier().tier_of(ProviderError("timed out", tier=PERMANENT)) is PERMANENT


def test_a_provider_error_without_a_tier_is_sorted_like_any_other() -> None:
    assert Classifier().tier_of(ProviderError("no", status=503)) is DEGRADING
    assert Classifier().tier_of(ProviderError("no", status=401)) is USER_FIXABLE
    assert Classifier().tier_of(ProviderError("no")) is PERMANENT


def test_the_status_is_found_under_every_name_in_use() -> None:
    request = httpx.Request("GET", "http://localhost/")
    response = httpx.Response(418, request=request)
    assert status_of(httpx.HTTPStatusError("no", request=request, response=response)) == 418
    assert status_of(Answered(500)) == 500
    assert status_of(ProviderError("no", status=502)) == 502
    assert status_of(ValueError("status 500")) is None


def test_a_record_keeps_code_message_fix_and_the_tier_found() -> None:
    record = Classifier().record(ProviderError("slow down", status=429, fix="Wait."))
    assert (record.code, record.message, record.fix) == ("provider_error", "slow down", "Wait.")
    assert record.tier is RATE_LIMIT
    assert record.retryable
    odd = Classifier().record(ZeroDivisionError())
    assert (odd.code, odd.message) == ("unexpected", "ZeroDivisionError")
    assert odd.context == {"type": "ZeroDivisionError"}


def test_a_refused_value_is_permanent() -> None:
    assert Classifier().record(InvalidInput("no", value="x")).context == {"value": "x"}
