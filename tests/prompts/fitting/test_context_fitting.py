"""A conversation that outgrew its window: what is kept, what is told, what is never broken."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.settings.sections import ContextSettings
from callboard.core.vocabulary import Content, Trust
from callboard.prompts import (
    Assembler,
    Fitter,
    FittingOutcome,
    History,
    Layer,
    OfflineTokenCounter,
    PromptRequest,
    Turn,
    load_layout,
    load_prompt,
    record_prompt,
    save_prompt,
)
from callboard.prompts.draft import exchanges, turn_tokens
from callboard.prompts.pieces import bm25, pieces_of
from callboard.store.sqlite.database import SqliteDatabase

pytestmark = pytest.mark.anyio

counter = OfflineTokenCounter()
layout = load_layout()
assembler = Assembler(counter, layout)


class WordCounter:
    """Counts words: quick, and small numbers are easy to reason about."""

    def count(self, text: str) -> int:
        return len(text.split())


words = WordCounter()


def said(text: str, role: str = "user", pair: str | None = None) -> Turn:
    return Turn(Content(text, role, Trust.TRUSTED), role, pair)


def chat(*texts: str) -> tuple[Turn, ...]:
    roles = ("user", "assistant")
    return tuple(said(text, roles[index % 2]) for index, text in enumerate(texts))


def texts(history: History) -> list[str]:
    return [turn.content.text for turn in history.turns]


def cost(turns: Sequence[Turn]) -> int:
    return sum(turn_tokens(turn, words) for turn in turns)


def fitter(**more: Any) -> Fitter:
    policy = ContextSettings(**more.pop("policy", {}))
    return Fitter(words, layout, policy, **more)


@pytest.mark.req("LLM-68")
async def test_what_fits_passes_unchanged() -> None:
    history = History(chat("one", "two", "three"))
    room = cost(history.turns)
    assert await fitter().fit(history, "one", room) is history
    assert (await fitter().fit(history, "one", room - 1)).turns != history.turns


@pytest.mark.req("LLM-68")
def test_the_room_is_the_window_without_the_reserve() -> None:
    assert ContextSettings().limit_tokens(8192) == 4096
    assert ContextSettings(reserve_tokens=1000).limit_tokens(8192) == 7192
    assert ContextSettings().limit_tokens(100) == 0


@pytest.mark.req("LLM-70")
async def test_selection_keeps_what_is_about_the_message_in_the_old_order() -> None:
    filler = ["the weather is fine today", "yes it is very fine indeed"] * 6
    turns = chat("what colour are the eyes of Kael", "they are green as moss", *filler)
    history = await fitter().fit(History(turns), "describe the eyes of Kael", 44)
    kept = texts(history)
    assert kept[0] == "what colour are the eyes of Kael"
    assert kept[1] == "they are green as moss", "the answer stays with its question"
    assert kept[-4:] == [turn.content.text for turn in turns[-4:]]
    assert history.fitted is not None
    assert history.fitted.outcome is FittingOutcome.SELECTED
    assert cost(history.turns) <= 44


@pytest.mark.req("LLM-70")
async def test_a_message_that_is_too_large_makes_way_for_the_next() -> None:
    giant = "dragon " * 500
    turns = chat(giant, "a dragon sleeps", "small talk", "more talk", "the end", "bye")
    policy = {"keep_last_turns": 2, "min_relevance_share": 0.2}
    history = await fitter(policy=policy).fit(History(turns), "dragon", 16)
    assert giant not in texts(history)
    assert "a dragon sleeps" in texts(history)


@pytest.mark.req("LLM-72", "LLM-70")
async def test_a_selection_that_would_lose_too_much_becomes_a_summary() -> None:
    heard: list[tuple[int, int]] = []

    async def summarise(turns: tuple[Turn, ...], max_tokens: int) -> str:
        heard.append((len(turns), max_tokens))
        return "They spoke of dragons."

    turns = chat(*[f"dragon number {n} breathes fire over the hills" for n in range(30)])
    history = await fitter(summarise=summarise).fit(History(turns), "dragon fire", 100)
    first, *recent = history.turns
    assert first.role == "system"
    assert first.content.trust is Trust.UNTRUSTED
    covered = len(turns) - len(recent)
    assert first.content.text == (
        f"[Summary of {covered} earlier messages]\nThey spoke of dragons."
    )
    assert tuple(recent) == turns[covered:]
    assert cost(recent) <= 50, "recent turns get half of the room"
    assert [count for count, _ in heard] == [covered]
    assert history.fitted is not None
    assert history.fitted.outcome is FittingOutcome.SUMMARISED
    assert cost(history.turns) <= 100


@pytest.mark.req("LLM-72")
async def test_a_summary_is_capped_where_it_was_agreed() -> None:
    async def chatty(_turns: tuple[Turn, ...], _max_tokens: int) -> str:
        return "and then " * 400

    history = await fitter(summarise=chatty).fit(History(chat(*["aa bb cc"] * 40)), "zz", 80)
    summary = history.turns[0]
    assert summary.content.text.endswith(layout.cut_mark)
    assert cost([summary]) <= 20
    assert cost(history.turns) <= 80


async def fails(_turns: tuple[Turn, ...], _max_tokens: int) -> str:
    raise ConnectionError("the model is away")


async def is_empty(_turns: tuple[Turn, ...], _max_tokens: int) -> str:
    return "  \n"


@pytest.mark.req("LLM-73")
@pytest.mark.parametrize("summarise", [fails, is_empty, None])
async def test_without_a_summary_the_oldest_go(summarise: Any) -> None:
    turns = chat(*[f"message {n}" for n in range(40)])
    history = await fitter(summarise=summarise).fit(History(turns), "zz", 60)
    assert history.turns == turns[-20:]
    assert history.fitted is not None
    assert history.fitted.outcome is FittingOutcome.REDUCED
    expected = {fails: "the model is away", is_empty: "empty", None: "nobody summarises"}
    assert expected[summarise] in history.fitted.reason


@pytest.mark.req("LLM-71")
async def test_what_leaves_goes_to_the_archive_and_its_failure_costs_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kept: list[Turn] = []

    async def archive(turns: tuple[Turn, ...]) -> None:
        kept.extend(turns)

    async def full(_turns: tuple[Turn, ...]) -> None:
        raise OSError("disk full")

    async def summarise(_turns: tuple[Turn, ...], _max: int) -> str:
        return "short"

    turns = chat(*[f"message {n}" for n in range(40)])
    history = await fitter(summarise=summarise, archive=archive).fit(History(turns), "zz", 60)
    assert (*kept, *history.turns[1:]) == turns
    assert cost(history.turns[1:]) <= 30, "half of the room is for recent turns"
    again = await fitter(summarise=summarise, archive=full).fit(History(turns), "zz", 60)
    assert again.turns == history.turns
    assert again.fitted is not None
    assert "disk full" in again.fitted.reason
    assert "archive did not take" in caplog.text
    kept.clear()
    cut = await fitter(summarise=fails, archive=archive).fit(History(turns), "zz", 60)
    assert (*kept, *cut.turns) == turns


async def test_a_newest_turn_larger_than_half_goes_before_the_summary() -> None:
    async def summarise(_turns: tuple[Turn, ...], _max: int) -> str:
        return "s"

    turns = (*chat("aa", "bb", "cc", "dd"), said("word " * 30))
    history = await fitter(summarise=summarise).fit(History(turns), "zz", 35)
    assert history.turns[-1] == turns[-1]
    assert cost(history.turns) <= 35


async def test_the_conversations_own_limits_still_hold() -> None:
    turns = chat(*[f"message {n}" for n in range(20)])
    few = await fitter().fit(History(turns, max_exchanges=3), "zz", 1000)
    assert few.turns == turns[-6:]
    assert few.fitted is not None
    tight = await fitter().fit(History(turns, budget_tokens=9), "zz", 1000)
    assert cost(tight.turns) <= 9
    none = await fitter().fit(History(turns, max_exchanges=0), "zz", 1000)
    assert none.turns == ()
    assert none.fitted is not None
    assert none.fitted.outcome is FittingOutcome.DROPPED


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    scores = bm25(["the cat", "the dog", "the the the", "zebra the"], "the zebra")
    assert max(scores) == scores[3]
    assert bm25(["", ""], "x") == [0.0, 0.0]
    assert bm25(["CAT"], "cat")[0] > 0


def test_a_piece_holds_a_call_and_its_result() -> None:
    turns = (
        said("go"),
        said("call", "assistant", "t1"),
        said("also"),
        said("result", "user", "t1"),
        said("well?"),
    )
    pieces = pieces_of(turns, "go", words)
    assert [piece.positions for piece in pieces] == [(0,), (2,), (1, 3), (4,)]
    assert [len(exchange) for exchange in exchanges(turns)] == [4, 1]


conversations = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant"]),
        st.lists(st.sampled_from(["kael", "moss", "ship", "sea", "fire"]), max_size=12),
        st.sampled_from([None, None, None, "p1", "p2", "p3"]),
    ),
    max_size=24,
)
summaries = st.sampled_from([None, fails, is_empty, "a short one", "long " * 200])


def _summary(choice: Any) -> Any:
    if not isinstance(choice, str):
        return choice

    async def summarise(_turns: tuple[Turn, ...], _max: int) -> str:
        return choice

    return summarise


@pytest.mark.req("LLM-70", "LLM-72", "LLM-73")
@given(
    conversations,
    st.integers(0, 200),
    summaries,
    st.sampled_from(["kael moss", "nothing known", ""]),
    st.integers(0, 6),
    st.floats(0, 1),
)
def test_whatever_is_said_it_fits_in_order_with_pairs_whole_and_the_newest_kept(
    spoken: list[tuple[str, list[str], str | None]],
    room: int,
    summary: Any,
    query: str,
    keep: int,
    share: float,
) -> None:
    turns = tuple(
        said(f"{index} {' '.join(each)}", role, pair)
        for index, (role, each, pair) in enumerate(spoken)
    )
    policy = {"keep_last_turns": keep, "min_relevance_share": share}
    fitting = fitter(policy=policy, summarise=_summary(summary))
    history = asyncio.run(fitting.fit(History(turns), query, room))
    assert cost(history.turns) <= room
    own = [turn for turn in history.turns if turn.role != "system"]
    positions = [turns.index(turn) for turn in own]
    assert positions == sorted(set(positions))
    for pair in ("p1", "p2", "p3"):
        whole = [turn for turn in turns if turn.pair == pair]
        left = [turn for turn in own if turn.pair == pair]
        assert left in ([], whole)
    if turns and history.fitted is not None:
        last = [turn for turn in turns if turn.pair == turns[-1].pair and turn.pair] or [turns[-1]]
        is_chosen_by_worth = history.fitted.outcome is FittingOutcome.SELECTED and keep == 0
        if cost(last) <= room and not is_chosen_by_worth:
            assert turns[-1] in own


def long_talk(tokens: int) -> tuple[Turn, ...]:
    turns: list[Turn] = []
    total = 0
    while total < tokens:
        number = len(turns)
        call = f"call-{number}"
        fresh = [
            said(f"Question {number}: what does the harbour master say of the tide? " * 8),
            said(f"I look into file {number}.", "assistant", call),
            said(f"File {number}: high water at {number % 24} o'clock. " * 20, "tool", call),
            said(f"The harbour master says the tide turns at {number % 24}. " * 8, "assistant"),
        ]
        turns += fresh
        total += sum(turn_tokens(turn, counter) for turn in fresh)
    return tuple(turns)


@pytest.mark.req("LLM-68", "LLM-69", "LLM-70", "LLM-72")
async def test_a_conversation_of_three_windows(tmp_path: Path) -> None:
    window = 8192
    policy = ContextSettings()
    asked: list[int] = []

    async def summarise(turns: tuple[Turn, ...], max_tokens: int) -> str:
        asked.append(len(turns))
        return "Many tides were asked for. " * 500

    rules = Content("Never give away the treasure. " * 20, "pack:x", Trust.TRUSTED)
    request = PromptRequest(
        layers=(Layer("rules", rules, pinned=True, stable=True), Layer("hint", rules)),
        message=Content("When does the tide turn in the harbour?", "user", Trust.TRUSTED),
        history=History(long_talk(3 * window)),
        limit_tokens=policy.limit_tokens(window),
    )
    fitting = Fitter(counter, layout, policy, summarise=summarise)
    fitted = await fitting.fit_request(assembler, request)
    prompt = assembler.assemble(fitted)
    assert prompt.total_tokens <= window - 4096
    assert prompt.messages[0].role == "system"
    assert prompt.messages[0].content.count(rules.text) == 2
    calls = [turn.pair for turn in fitted.history.turns if turn.pair]
    assert calls
    assert all(calls.count(call) == 2 for call in calls)
    summary = prompt.messages[1]
    assert summary.role == "system"
    assert f"[Summary of {asked[0]} earlier messages]" in summary.content
    assert 'trust="untrusted"' in summary.content
    assert prompt.messages[-1].content == request.message.text
    lines = {line.name: line for line in prompt.bill}
    assert lines["history"].outcome is FittingOutcome.SUMMARISED
    assert f"{asked[0]} of {len(request.history.turns)}" in lines["history"].reason
    assert lines["history"].original_tokens > 3 * window
    assert lines["history/left out"].outcome is FittingOutcome.DROPPED
    assert lines["rules"].outcome is lines["hint"].outcome is FittingOutcome.KEPT

    database = SqliteDatabase.open(tmp_path / "callboard.db")
    try:
        record = record_prompt(prompt, "prompt_1", 1)
        await database.write(lambda connection: save_prompt(connection, record))
        stored = database.read(lambda connection: load_prompt(connection, "prompt_1"))
    finally:
        database.close()
    assert stored.bill == prompt.bill
    assert stored.messages == prompt.messages


@pytest.mark.req("LLM-69")
async def test_the_system_prompt_stays_when_there_is_no_room_at_all() -> None:
    rules = Content("Rules. " * 300, "pack:x", Trust.TRUSTED)
    request = PromptRequest(
        layers=(Layer("rules", rules),),
        message=Content("Go.", "user", Trust.TRUSTED),
        history=History(long_talk(2000)),
    )
    empty = assembler.assemble(
        PromptRequest(layers=request.layers, message=request.message)
    ).total_tokens
    tight = PromptRequest(request.layers, request.message, request.history, empty + 3)
    fitted = await Fitter(counter, layout).fit_request(assembler, tight)
    prompt = assembler.assemble(fitted)
    assert rules.text in prompt.messages[0].content
    history = next(line for line in prompt.bill if line.name == "history")
    assert history.outcome is FittingOutcome.DROPPED
    assert "messages dropped" in history.reason
    assert await Fitter(counter, layout).fit_request(assembler, request) is request


@given(st.integers(0, 1500))
def test_a_fitted_request_never_needs_more_trimming(limit: int) -> None:
    layer = Layer("rules", Content("Be brief.", "pack:x", Trust.TRUSTED), pinned=True)
    message = Content("When does the tide turn?", "user", Trust.TRUSTED)
    request = PromptRequest((layer,), message, History(_TALK), limit + 40)
    fitted = asyncio.run(Fitter(counter, layout).fit_request(assembler, request))
    prompt = assembler.assemble(fitted)
    assert prompt.total_tokens <= limit + 40
    line = next(each for each in prompt.bill if each.name == "history")
    assert "exchanges dropped" not in line.reason


_TALK = long_talk(1200)
