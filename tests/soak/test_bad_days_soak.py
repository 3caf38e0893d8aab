"""200 sessions at once against a provider on its worst days, through the whole gate of a project.

`SOAK_SECONDS` sets how long they ask; `make soak` asks for a minute and prints the figures.
"""

import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from bad_provider import BadProvider, answer_to

from callboard.core.errors import CallboardError, ProviderError
from callboard.models import CircuitOpen, Message, ModelRequest
from callboard.models.accounts import CallOutcome, CallRecord, list_calls
from callboard.prompts import OfflineTokenCounter
from callboard.store.journal.events import read_events
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing.openai_server import OpenAIServer
from sizes import size

SECONDS = float(os.environ.get("SOAK_SECONDS", size("4", "60")))
SEED = int(os.environ.get("SOAK_SEED", "7"))
SESSIONS = 200
COOLDOWN_SECONDS = 0.2

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.chaos,
    pytest.mark.timeout(180 + 4 * SECONDS),
]


def flags(url: str) -> dict[str, Any]:
    """Return settings under which a bad day passes quickly."""
    return {
        "models": {
            "default": "house:tiny",
            "providers": {"house": {"base_url": url}},
            # Far more than a busy machine takes to notice that something has arrived.
            "inactivity_timeout_seconds": 8,
        },
        "queue": {"user_preemption": False},
        "budgets": {
            "project": {"tokens": 10**9, "calls": 10**7},
            "session": {"tokens": 10**7, "calls": 10**6},
        },
        "errors": {
            "retry": {
                "transient": {"initial_delay_seconds": 0.01, "max_delay_seconds": 0.1},
                "external_rate_limit": {"initial_delay_seconds": 0.05, "max_delay_seconds": 0.4},
                "external_degrading": {"initial_delay_seconds": 0.02, "max_delay_seconds": 0.1},
            }
        },
        "circuit": {
            "llm": {
                # Failures are quicker than answers: of many calls at once, they end first.
                "consecutive_failures": 10,
                "window_size": 40,
                "failure_rate": 0.6,
                "cooldown_seconds": COOLDOWN_SECONDS,
                "success_threshold": 1,
                "max_probes": 4,
            }
        },
    }


@dataclass
class Soak:
    """A project under load, and what its callers saw."""

    studio: Studio
    provider: BadProvider
    ends_at: float = 0.0
    answered: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)

    async def run(self, seconds: float) -> float:
        """Let all sessions ask until the time is over; return how long it took to the last word."""
        sessions = [await self.studio.sessions.create(f"s{n}") for n in range(SESSIONS)]
        # The first call connects, which takes long; no other is to be timed out meanwhile.
        await self._question("warm-up", sessions[0].id)
        self.provider.is_well = False
        started = time.monotonic()
        self.ends_at = started + seconds
        async with asyncio.TaskGroup() as group:
            for session in sessions:
                group.create_task(self._session(session.id, session.name))
        return time.monotonic() - started

    async def _session(self, session_id: str, name: str) -> None:
        number = 0
        while time.monotonic() < self.ends_at or not self.provider.has_seen_it_all:
            number += 1
            await self._question(f"{name} question {number}", session_id)

    async def _question(self, question: str, session_id: str) -> None:
        """Ask until there is an answer, as a user would who retries what failed."""
        while not self.answered[question]:
            request = ModelRequest(
                "house:tiny",
                (Message("user", question),),
                session_id=session_id,
                prompt_id=question,
                priority=60,
            )
            try:
                reply = await self.studio.gate.complete(request)
            except ProviderError as error:
                self.errors[error.code] += 1
                await asyncio.sleep(_wait_seconds(error))
                continue
            assert reply.text.rstrip("~") == answer_to(question)
            self.answered[question] += 1

    def times(self, kind: str, state: str = "") -> int:
        """Return how often something was told."""
        told = [row for row in self.rows("SELECT type, data FROM events") if row["type"] == kind]
        return sum(f'"state":"{state}"' in row["data"] or not state for row in told)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        return self.studio.database.read(lambda c: [dict(row) for row in c.execute(sql)])


def _wait_seconds(error: CallboardError) -> float:
    """Return how long to leave a provider alone whose circuit is open; others are asked again."""
    return COOLDOWN_SECONDS if isinstance(error, CircuitOpen) else 0.0


@pytest.fixture(scope="module")
def sdk() -> None:
    """Load the provider's SDK before anything is measured in seconds of silence."""
    import openai.resources.chat  # noqa: F401
    import pydantic_ai.models.openai  # noqa: F401


@pytest.fixture
async def soak(sdk: None, tmp_path: Path) -> AsyncIterator[Soak]:
    Project.init(tmp_path / "project")
    counter = OfflineTokenCounter()
    async with OpenAIServer.listening() as server:
        provider = BadProvider(server, counter.count, SEED)
        opening = Opening(flags=flags(server.url), environment={"HOME": str(tmp_path)})
        async with Studio.open(tmp_path / "project", opening) as studio:
            yield Soak(studio, provider)


@pytest.mark.req("LLM-63", "LLM-64")
async def test_no_call_is_lost_or_made_twice_and_the_ledger_agrees_with_the_provider(
    soak: Soak, capsys: pytest.CaptureFixture[str]
) -> None:
    took = await soak.run(SECONDS)
    await soak.studio.accounts.flush()
    books = soak.provider.books
    calls = soak.studio.database.read(list_calls)
    well = [call for call in calls if call.outcome is CallOutcome.OK]
    broken = [call for call in calls if call.is_estimated]
    with capsys.disabled():
        sys.stdout.write(f"\n{_figures(soak, took, calls)}\n")

    # The bad days have been as bad as they were meant to be.
    assert soak.provider.has_seen_it_all
    assert soak.times("circuit.changed", "open")
    assert soak.times("limit.paused")
    # Every question has got its own answer, once.
    assert set(soak.answered) == set(books.requests)
    assert set(soak.answered.values()) == {1}
    assert books.completed == soak.answered
    # The ledger holds each request the provider saw, and no other.
    assert Counter(call.spender.prompt_id for call in calls) == books.requests
    assert sum(call.requests for call in calls) == books.requests.total()
    assert Counter(call.spender.prompt_id for call in well) == books.completed
    assert _tokens(well) == {name: books.tokens[name] for name in ("input", "output", "cached")}
    assert _tokens(broken) == {
        "input": books.tokens["broken input"],
        "output": books.tokens["broken output"],
        "cached": 0,
    }
    others = [call for call in calls if call not in well and call not in broken]
    assert _tokens(others) == {"input": 0, "output": 0, "cached": 0}
    # Budgets and the stream of events say the same; nothing is held back or under way any more.
    (project,) = soak.rows("SELECT * FROM budgets WHERE scope = 'project'")
    tokens = books.tokens
    spent = tokens.total() - tokens["cached"]
    assert (project["spent_calls"], project["spent_tokens"]) == (books.requests.total(), spent)
    assert soak.rows("SELECT * FROM reservations") == []
    (last,) = soak.rows("SELECT MAX(seq) AS seq FROM events WHERE type = 'call.metered'")
    (event,) = soak.studio.database.read(
        lambda connection: read_events(connection, after=last["seq"] - 1, limit=1)
    )
    assert event.body.total_calls == books.requests.total()  # type: ignore[union-attr]


def _tokens(calls: list[CallRecord]) -> dict[str, int]:
    return {
        "input": sum(call.usage.input_tokens for call in calls),
        "output": sum(call.usage.output_tokens for call in calls),
        "cached": sum(call.usage.cached_tokens for call in calls),
    }


def _figures(soak: Soak, took: float, calls: list[CallRecord]) -> str:
    books = soak.provider.books
    requests = books.requests.total()
    lines = (
        f"soak: {SESSIONS} sessions asked for {SECONDS:g} s and had their last answer after"
        f" {took:.0f} s: {len(soak.answered):,} questions, {requests:,} requests,"
        f" {len(calls):,} rows in the ledger, {requests / took:.0f} requests/s",
        f"  the provider answered: {dict(books.kinds.most_common())}",
        f"  callers saw: {dict(soak.errors.most_common()) or 'no error'}",
        f"  the circuit opened {soak.times('circuit.changed', 'open')} times,"
        f" the queue was paused {soak.times('limit.paused')} times",
    )
    return "\n".join(lines)
