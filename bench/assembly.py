"""One full-tier prompt: seven layers up to their budgets, trimmed history, tokens counted.

Warm means what a conversation sees from its second turn on: rules and old turns have been counted
before, while the state, the newest exchange and the message are new every time. The same prompt
with nothing counted before is shown beside it.
"""

import random
import statistics
import time

from bench.report import Measured, Result
from callboard.core.vocabulary import Content, ModelTier, Trust
from callboard.packs.writers_factory.foreman.sandwich import layer_budgets
from callboard.prompts import (
    Assembler,
    History,
    Layer,
    OfflineTokenCounter,
    PromptRequest,
    TrimOrder,
    Turn,
    load_layout,
    state_content,
)

GOAL_MS = 1.0
PROSE = (
    "The keeper climbed the stairs with a lantern, counting each step against the storm, and"
    " found the letter where his brother had promised to leave it, under the harbour ledger."
)


class Conversation:
    """Makes the request of each turn; only what a turn brings with it is new."""

    def __init__(self) -> None:
        self._words = random.Random(11)
        self._budget = layer_budgets()[ModelTier.FULL]
        self._fixed = {
            "identity": self._prose(250),
            "process_map": self._prose(500),
            "mode_rules": self._prose(400),
            "protocols": self._prose(400),
            "reminders": self._prose(60),
        }
        self._turns: list[Turn] = []
        self._number = 0
        for _ in range(12):
            self._exchange()

    def next_request(self) -> PromptRequest:
        """Return the request of the next turn."""
        self._number += 1
        self._exchange()
        return PromptRequest(
            layers=(
                self._layer("identity", 500),
                self._layer("process_map", 1000),
                self._layer("mode_rules", 800),
                Layer("session_state", self._state(), 800, pinned=True),
                self._layer("protocols", 800),
                self._layer("reminders", 200),
            ),
            message=Content(self._prose(60), "user", Trust.TRUSTED),
            history=self._history(),
            limit_tokens=self._budget.limit_tokens(),
            order=TrimOrder.AS_GIVEN,
            message_budget_tokens=self._budget.message,
            tier=ModelTier.FULL,
        )

    def _history(self) -> History:
        return self._budget.limit_history(tuple(self._turns[-24:]))

    def _exchange(self) -> None:
        self._turns.append(Turn(Content(self._prose(40), "user", Trust.TRUSTED)))
        self._turns.append(Turn(Content(self._prose(120), "agent:foreman"), "assistant"))

    def _layer(self, name: str, budget_tokens: int) -> Layer:
        content = Content(self._fixed[name], f"pack:bench/{name}", Trust.TRUSTED)
        return Layer(name, content, budget_tokens, pinned=True, stable=True)

    def _state(self) -> Content:
        facts = [{"@key": f"fact-{n}", "#text": f"{self._number} {n}"} for n in range(10)]
        return state_content("session_state", {"mode": "DIRECTOR", "fact": facts})

    def _prose(self, words: int) -> str:
        return " ".join(self._words.choices(PROSE.split(), k=words))


def measure(*, quick: bool) -> Measured:
    """Assemble many turns of a conversation."""
    times = 50 if quick else 1000
    conversation = Conversation()
    assembler = _assembler()
    last = conversation.next_request()
    prompt = assembler.assemble(last)
    warm = [_seconds(assembler, conversation.next_request()) for _ in range(times)]
    same = [_seconds(assembler, last) for _ in range(times)]
    cold = [_seconds(_assembler(), last) for _ in range(3 if quick else 10)]
    ours = statistics.median(warm) * 1000
    peer = statistics.median(cold) * 1000
    return Measured(
        (
            Result(
                "full-tier prompt assembly, warm (ms)",
                ours,
                peer,
                "nothing counted before",
                peer / ours,
                "under 1 ms",
                ours < GOAL_MS,
            ),
        ),
        (
            f"median of {times} prompts of about {prompt.total_tokens:,} tokens in"
            f" {len(prompt.bill)} pieces; 99th percentile"
            f" {statistics.quantiles(warm, n=100)[98] * 1000:.2f} ms",
            f"the same prompt once more, nothing new in it:"
            f" {statistics.median(same) * 1000:.2f} ms",
        ),
    )


def _assembler() -> Assembler:
    counter = OfflineTokenCounter()
    counter.count("load the tokenizer")
    return Assembler(counter, load_layout())


def _seconds(assembler: Assembler, request: PromptRequest) -> float:
    started = time.perf_counter()
    assembler.assemble(request)
    return time.perf_counter() - started
