"""Map any exception to one tier. The order is fixed; what nobody knows is permanent."""

import errno
import json
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import PurePath
from typing import cast

from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, ErrorRecord, ErrorTier
from callboard.core.patterns import LinearPattern, compile_pattern
from callboard.core.settings.errors import SortingRules

# Some providers say 429 for "wait" and for "pay". Only a quota that time alone does not refill
# needs the user.
_QUOTA = re.compile(
    r"insufficient_quota|exceeded your current quota|quota exceeded|billing_hard_limit"
    r"|credit balance",
    re.IGNORECASE,
)
# How much of what an error says is read: what it is stands at the beginning.
_MOST_WORDS = 20_000
_REFILLS = re.compile(r"per[ _-]?(second|minute|day)|retry[ _-]?(in|after|delay)", re.IGNORECASE)

_BY_ERRNO = {
    errno.ECONNRESET: ErrorTier.TRANSIENT,
    errno.ECONNABORTED: ErrorTier.TRANSIENT,
    errno.EPIPE: ErrorTier.TRANSIENT,
    errno.ETIMEDOUT: ErrorTier.TRANSIENT,
    errno.ENETUNREACH: ErrorTier.TRANSIENT,
    errno.EHOSTUNREACH: ErrorTier.TRANSIENT,
    errno.EAGAIN: ErrorTier.TRANSIENT,
    errno.ECONNREFUSED: ErrorTier.EXTERNAL_DEGRADING,
    errno.ENOENT: ErrorTier.PERMANENT,
    errno.EACCES: ErrorTier.USER_FIXABLE,
    errno.EPERM: ErrorTier.USER_FIXABLE,
    errno.EROFS: ErrorTier.USER_FIXABLE,
    errno.ENOSPC: ErrorTier.USER_FIXABLE,
    errno.EDQUOT: ErrorTier.USER_FIXABLE,
}
# Types of libraries that core must not import, by name.
_BY_TYPE_NAME = {
    "gaierror": ErrorTier.TRANSIENT,
    "TimeoutException": ErrorTier.TRANSIENT,
    "ReadError": ErrorTier.TRANSIENT,
    "WriteError": ErrorTier.TRANSIENT,
    "RemoteProtocolError": ErrorTier.TRANSIENT,
    "ValidationError": ErrorTier.PERMANENT,
}


class Classifier:
    """Sorts errors by HTTP status first, then by what kind they are, then by their words."""

    def __init__(self, rules: SortingRules | None = None) -> None:
        """Take which words and statuses mean what; without them, what the runtime knows."""
        self._rules = rules or SortingRules()

    @cached_property
    def _patterns(self) -> tuple[tuple[ErrorTier, LinearPattern], ...]:
        listed = (
            (ErrorTier.USER_FIXABLE, self._rules.user_fixable_patterns),
            (ErrorTier.PERMANENT, self._rules.permanent_patterns),
            (ErrorTier.TRANSIENT, self._rules.transient_patterns),
        )
        return tuple(
            (tier, compile_pattern(pattern, ignores_case=True))
            for tier, patterns in listed
            for pattern in patterns
        )

    def tier_of(self, error: BaseException) -> ErrorTier:
        """Return the tier of an error, seen through everything it wraps."""
        chain = tuple(_chain(error))
        for decide in (self._by_status, _by_declaration, _by_type):
            for link in chain:
                tier = decide(link)
                if tier is not None:
                    return tier
        return self._by_words(chain)

    def record(self, error: BaseException) -> ErrorRecord:
        """Return any error as it is journaled."""
        tier = self.tier_of(error)
        if isinstance(error, CallboardError):
            own = error.record()
            return ErrorRecord(own.code, own.message, tier, own.fix, own.context)
        name = type(error).__name__
        message = f"{name}: {error}" if str(error) else name
        return ErrorRecord("unexpected", message, tier, None, {"type": name, **_place(error)})

    def _by_status(self, error: BaseException) -> ErrorTier | None:
        status = status_of(error)
        if status in self._rules.rate_limit_statuses:
            text = _words(error)
            must_pay = _QUOTA.search(text) and not _REFILLS.search(text)
            return ErrorTier.USER_FIXABLE if must_pay else ErrorTier.EXTERNAL_RATE_LIMIT
        if status in self._rules.degrading_statuses:
            return ErrorTier.EXTERNAL_DEGRADING
        return None

    def _by_words(self, chain: tuple[BaseException, ...]) -> ErrorTier:
        texts = [_words(link) for link in chain]
        for tier, pattern in self._patterns:
            if any(pattern.search(text) for text in texts):
                return tier
        return ErrorTier.PERMANENT


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status an error carries, under the names the field uses."""
    for name in ("status", "status_code"):
        status = getattr(error, name, None)
        if isinstance(status, int):
            return status
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) else None


def _place(error: BaseException) -> dict[str, Json]:
    """Return the line that raised an error nobody foresaw, for whoever has to mend it."""
    frame = error.__traceback__
    if frame is None:
        return {}
    while frame.tb_next is not None:
        frame = frame.tb_next
    return {"at": f"{PurePath(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno}"}


def _words(error: BaseException) -> str:
    body = getattr(error, "body", None)
    status = status_of(error)
    said = "" if body is None else body
    told = f"{error} {said}"[:_MOST_WORDS]
    return told if status is None else f"{told} HTTP {status}"


def _by_declaration(error: BaseException) -> ErrorTier | None:
    if not isinstance(error, CallboardError):
        return None
    if "tier" in vars(error):
        return error.tier
    for owner in type(error).__mro__:
        if owner is CallboardError:
            return None
        if "tier" in vars(owner):
            return error.tier
    return None


def _by_type(error: BaseException) -> ErrorTier | None:
    if isinstance(error, OSError) and error.errno in _BY_ERRNO:
        return _BY_ERRNO[error.errno]
    if isinstance(error, TimeoutError | ConnectionResetError | BrokenPipeError):
        return ErrorTier.TRANSIENT
    if isinstance(error, ConnectionRefusedError):
        return ErrorTier.EXTERNAL_DEGRADING
    if isinstance(error, PermissionError):
        return ErrorTier.USER_FIXABLE
    if isinstance(error, FileNotFoundError | json.JSONDecodeError):
        return ErrorTier.PERMANENT
    for owner in type(error).__mro__:
        if owner.__name__ in _BY_TYPE_NAME:
            return _BY_TYPE_NAME[owner.__name__]
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all it wraps, outermost first; a group stands before its members."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        link = waiting.pop(0)
        if link is None or id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        if isinstance(link, BaseExceptionGroup):
            waiting.extend(cast("BaseExceptionGroup[BaseException]", link).exceptions)
        waiting.append(link.__cause__ or (None if link.__suppress_context__ else link.__context__))
