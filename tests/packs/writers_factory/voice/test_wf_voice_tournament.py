"""Voice tournaments: who writes, who judges, what fails, what survives, how it is shown."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from voice_stage import (
    AGENTS,
    BRIEF,
    STRATEGIES,
    fails_for,
    hold,
    new_project,
    opened,
    passage,
    staff,
    verdict,
    voice_of,
)

from callboard.core.errors import InvalidInput
from callboard.core.events import Emitted
from callboard.core.vocabulary import ModelTier, RunState, SignalKind
from callboard.models import Line, ModelRequest, Script
from callboard.packs.writers_factory.voice import (
    DIMENSIONS,
    Pick,
    TournamentState,
    canonical_strategy,
    strategy_block,
)
from callboard.packs.writers_factory.voice import (
    STRATEGIES as ALL,
)
from callboard.store.journal.events import read_events

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return new_project(tmp_path / "novel")


@pytest.mark.req("WF-89", "WF-G64", "WF-G66")
async def test_one_agent_fails_and_eight_variants_remain(root: Path) -> None:
    script = Script(staff(fails_for("script:three")))
    async with opened(root, script) as studio:
        run, tournament_id = await hold(studio)
        assert run.state is RunState.DONE
        held = voice_of(studio).tournament(tournament_id)
    assert held.state is TournamentState.READY
    assert (len(held.usable), len(held.failed)) == (8, 4)
    assert {each.agent for each in held.failed} == {"script:three"}
    assert all("no such model" in each.error for each in held.failed)
    assert held.usable[1].id == "script:one:CHARACTER_DEPTH:2"
    for variant in held.usable:
        assert {score.dimension: score.most for score in variant.scores} == dict(DIMENSIONS)
        assert all(score.quote in variant.text for score in variant.scores)
        assert variant.metrics.pov == "first"
        assert variant.metrics.mean_sentence_words > 0
        assert 400 <= variant.words <= 600


@pytest.mark.req("WF-G64")
async def test_the_judge_is_somebody_else_and_sees_neither_author_nor_strategy(root: Path) -> None:
    script = Script(staff())
    async with opened(root, script) as studio:
        _, tournament_id = await hold(studio)
        held = voice_of(studio).tournament(tournament_id)
    judged = [call for call in script.calls if call.request.agent_id == "judge"]
    assert len(judged) == 12
    for call in judged:
        assert not any(agent in call.prompt for agent in AGENTS)
        assert not any(name in call.prompt for name in ALL)
        assert "Approach:" not in call.prompt
    assert all(variant.judge != variant.agent for variant in held.usable)
    assert not any("judged by its author" in variant.flags for variant in held.usable)


@pytest.mark.req("WF-G64")
async def test_a_lonely_model_judges_itself_and_that_is_flagged(root: Path) -> None:
    async with opened(root, Script(staff())) as studio:
        _, tournament_id = await hold(studio, agents="script", strategies="ACTION, BALANCED")
        held = voice_of(studio).tournament(tournament_id)
    assert [each.flags for each in held.usable] == [("judged by its author",)] * 2


@pytest.mark.req("WF-G64")
async def test_a_score_without_a_true_quotation_is_not_believed(root: Path) -> None:
    invented = verdict("a sentence that is nowhere in the passage", share=1.0)
    invented["rhythm"]["quote"] = "Rain fell on the hall"

    def judge(request: ModelRequest) -> Line | None:
        return Line(json=invented) if request.agent_id == "judge" else None

    async with opened(root, Script(staff(judge))) as studio:
        _, tournament_id = await hold(studio, agents=AGENTS[:2], strategies=["BALANCED"])
        (first, second) = voice_of(studio).tournament(tournament_id).usable
    by_judge = {score.dimension: score.source for score in first.scores}
    assert by_judge == {name: "judge" if name == "rhythm" else "code" for name in DIMENSIONS}
    assert all(score.quote in first.text for score in first.scores)
    assert first.scores == second.scores


@pytest.mark.req("WF-G64")
async def test_prose_quality_is_reduced_by_what_the_scanner_finds(root: Path) -> None:
    stained = passage(opening="Rain fell on the hall. He shut it with surgical precision.")
    worse = f"{stained} It was clear that he would come."

    def write(request: ModelRequest) -> str | None:
        if request.agent_id != "writer":
            return None
        return worse if "Approach: action" in request.prompt_text else stained

    async with opened(root, Script(staff(write))) as studio:
        _, tournament_id = await hold(studio, agents=AGENTS[:1], strategies=["ACTION", "BALANCED"])
        action, balanced = voice_of(studio).tournament(tournament_id).usable
    quality = {v.strategy: s.score for v in (action, balanced) for s in v.scores[1:2]}
    assert quality == {"BALANCED": 16 - 10, "ACTION_EMPHASIS": 16 - 10 - 2}
    assert [hit["pattern"] for hit in balanced.hits] == ["with … precision"]


@pytest.mark.req("WF-G66")
async def test_a_wrong_length_is_asked_for_once_more_and_then_kept_with_a_flag(root: Path) -> None:
    def write(request: ModelRequest) -> str | None:
        if request.agent_id != "writer":
            return None
        is_again = request.prompt_type == "tournament_passage_again"
        if "Approach: action" in request.prompt_text:
            return passage(480) if is_again else passage(200)
        return passage(300 if is_again else 250)

    script = Script(staff(write))
    async with opened(root, script) as studio:
        _, tournament_id = await hold(studio, agents=AGENTS[:1], strategies=["ACTION", "BALANCED"])
        action, balanced = voice_of(studio).tournament(tournament_id).usable
    written = Counter(c.request.prompt_type for c in script.calls if c.request.agent_id == "writer")
    assert written == {"tournament_passage": 2, "tournament_passage_again": 2}
    assert 400 <= action.words <= 600
    assert "length outside 400-600 words" not in action.flags
    assert 290 <= balanced.words <= 330
    assert "length outside 400-600 words" in balanced.flags


@pytest.mark.req("WF-G66")
async def test_an_empty_generation_fails_its_variant_and_one_alone_is_no_tournament(
    root: Path,
) -> None:
    def write(request: ModelRequest) -> str | None:
        is_meant = request.agent_id == "writer" and "Approach: action" not in request.prompt_text
        return "…" if is_meant else None

    async with opened(root, Script(staff(write))) as studio:
        run, tournament_id = await hold(studio, agents=AGENTS[:1])
        held = voice_of(studio).tournament(tournament_id)
    assert run.state is RunState.FAILED
    assert held.state is TournamentState.FAILED
    assert (len(held.usable), len(held.failed)) == (1, 3)
    assert held.failed[0].error == "the model wrote nothing"
    assert "only 1 of 4" in held.error


@pytest.mark.req("WF-G66")
async def test_models_without_credentials_are_told_before_the_start_and_never_asked(
    root: Path,
) -> None:
    script = Script(staff())
    async with opened(root, script) as studio:
        told = voice_of(studio).check_agents(["script:one", "openai:gpt-4o", "nonsense"])
        assert [each.is_usable for each in told] == [True, False, False]
        assert "OPENAI_API_KEY" in told[1].problem + told[1].fix
        run, tournament_id = await hold(studio, agents=["script:one", "openai:gpt-4o"])
        held = voice_of(studio).tournament(tournament_id)
        with pytest.raises(InvalidInput, match="0 of 4"):
            await hold(studio, agents=["openai:gpt-4o"])
    assert run.state is RunState.DONE
    assert list(held.unusable) == ["openai:gpt-4o"]
    assert [each.agent for each in held.failed] == ["openai:gpt-4o"] * 4
    assert {call.request.model for call in script.calls} <= {"script:one", "script"}


@pytest.mark.req("WF-G63")
async def test_prompts_of_two_strategies_differ_only_in_the_strategy_block(root: Path) -> None:
    script = Script(staff())
    async with opened(root, script) as studio:
        await hold(studio, agents=AGENTS[:1], strategies=list(ALL))
        blocks = {name: strategy_block(studio, name).text for name in ALL}
        small = {name: strategy_block(studio, name, ModelTier.MINIMAL).text for name in ALL}
    prompts = [call.prompt for call in script.calls if call.request.agent_id == "writer"]
    bare = set()
    for prompt in prompts:
        (block,) = [each for each in blocks.values() if each in prompt]
        bare.add(prompt.replace(block, "<strategy>"))
    assert len(prompts) == 5
    assert len(bare) == 1
    assert len(set(blocks.values())) == len(set(small.values())) == 5
    assert all(len(small[name]) < len(blocks[name]) for name in ALL)


@pytest.mark.req("WF-G63")
@pytest.mark.parametrize(
    ("given", "full"),
    [
        ("ACTION", "ACTION_EMPHASIS"),
        ("character", "CHARACTER_DEPTH"),
        ("Character depth", "CHARACTER_DEPTH"),
        ("dialogue", "DIALOGUE_FOCUS"),
        ("BALANCED", "BALANCED"),
        ("atmospheric", "ATMOSPHERIC"),
    ],
)
def test_short_forms_are_understood(given: str, full: str) -> None:
    assert canonical_strategy(given) == full


def test_an_unknown_strategy_is_named() -> None:
    with pytest.raises(InvalidInput, match="'noir'"):
        canonical_strategy("noir")


@pytest.mark.req("WF-G66")
async def test_presentation_is_shuffled_nameless_and_opens_with_the_choice(root: Path) -> None:
    async with opened(root, Script(staff())) as studio:
        voice = voice_of(studio)
        _, tournament_id = await hold(studio)
        held = voice.tournament(tournament_id)
        shown = held.presented()
        assert [each["label"] for each in shown] == [chr(65 + n) for n in range(12)]
        assert not any(name in json.dumps(shown) for name in (*AGENTS, *ALL))
        order = [variant.id for variant in held.labels.values()]
        assert order != [variant.id for variant in held.usable]
        assert order == [v.id for v in voice.tournament(tournament_id).labels.values()]
        assert held.presented(reveal=True)[0]["agent"] in AGENTS
        await voice.select_winner(tournament_id, Pick(label="c"), notes="Her ear.")
        chosen = voice.tournament(tournament_id)
    assert chosen.winner == order[2]
    assert chosen.presented()[0]["agent"] in AGENTS


@pytest.mark.req("WF-90", "WF-G65")
async def test_the_writer_picks_by_agent_and_strategy_and_the_index_must_agree(root: Path) -> None:
    async with opened(root, Script(staff(fails_for("script:three")))) as studio:
        voice = voice_of(studio)
        _, tournament_id = await hold(studio)
        wrong = Pick("script:two", "CHARACTER", variant_index=3)
        with pytest.raises(InvalidInput, match="number 2"):
            await voice.select_winner(tournament_id, wrong)
        with pytest.raises(Exception, match="cannot win"):
            await voice.select_winner(tournament_id, Pick("script:three", "ACTION"))
        with pytest.raises(Exception, match="no such variant"):
            await voice.select_winner(tournament_id, Pick("script:nine", "ACTION"))
        assert voice.status().winner == ""
        chosen = await voice.select_winner(
            tournament_id, Pick("two", "CHARACTER_DEPTH", variant_index=2), notes="Rhythm."
        )
        status = voice.status()
    assert chosen.state is TournamentState.WINNER_SELECTED
    assert chosen.notes == "Rhythm."
    assert (status.winning_agent, status.winning_strategy) == ("script:two", "CHARACTER_DEPTH")
    assert status.steps_done == 3


@pytest.mark.req("WF-G66")
async def test_results_survive_a_restart_and_a_second_tournament_stands_beside(root: Path) -> None:
    async with opened(root, Script(staff())) as studio:
        _, first = await hold(studio, strategies=["ACTION", "BALANCED"])
    async with opened(root, Script(staff())) as studio:
        _, second = await hold(studio, strategies=["DIALOGUE", "BALANCED"])
        both = voice_of(studio).tournaments()
    assert [each.id for each in both] == [first, second]
    assert [len(each.usable) for each in both] == [6, 6]
    assert both[0].usable[0].text
    assert both[0].strategies != both[1].strategies


async def test_progress_is_told_variant_by_variant(root: Path) -> None:
    async with opened(root, Script(staff())) as studio:
        run, _ = await hold(studio)
        told = [
            event.body for event in studio.database.read(lambda c: read_events(c, run_id=run.id))
        ]
    steps = [each.data for each in told if isinstance(each, Emitted)]
    assert [(each["done"], each["total"]) for each in steps] == [(n, 12) for n in range(1, 13)]


@pytest.mark.req("WF-G66")
async def test_a_cancelled_tournament_says_so_and_can_not_be_won(root: Path) -> None:
    script = Script(Line(passage(), hold="writing", times=None, agent="writer"))
    async with opened(root, script) as studio:
        run = await studio.start(
            "writers_factory/tournament",
            {"test_prompt": BRIEF, "agents": AGENTS, "strategies": STRATEGIES},
        )
        await script.reached("writing")
        await studio.engine.signal(run.id, SignalKind.CANCEL)
        ended = await studio.engine.wait(run.id)
        (held,) = voice_of(studio).tournaments()
        assert ended.state is RunState.CANCELLED
        assert held.state is TournamentState.CANCELLED
        with pytest.raises(Exception, match="cancelled"):
            await voice_of(studio).select_winner(held.id, Pick("script:one", "ACTION"))


# The number of commits differs from run to run, that of calls does not: twelve writers and
# twelve judges, and a judge is asked only when a writer's text is on disk.
KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from voice_stage import AGENTS, BRIEF, STRATEGIES, staff
from callboard.models import Script
from callboard.studio.opening import Opening
from callboard.studio.studio import Studio
from callboard.testing import SCRIPTED

asked = 0

def die_when_asked(request):
    global asked
    asked += 1
    if asked == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    root = Path(sys.argv[1])
    opening = Opening(providers={"script": Script(staff(die_when_asked))}, flags=SCRIPTED)
    async with Studio.open(root, opening) as studio:
        args = {"test_prompt": BRIEF, "agents": AGENTS, "strategies": STRATEGIES}
        run = await studio.start("writers_factory/tournament", args)
        await studio.engine.wait(run.id)

asyncio.run(main())
"""


@pytest.mark.req("WF-G66")
@pytest.mark.parametrize("moment", [14, 18, 24])
async def test_a_tournament_killed_in_the_middle_pays_for_nothing_twice(
    root: Path, moment: int
) -> None:
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    ended = subprocess.run(  # noqa: ASYNC221
        [sys.executable, "-c", KILLED, str(root), str(moment)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        timeout=60,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    with closing(sqlite3.connect(root / ".callboard" / "callboard.db")) as left:
        found = left.execute("SELECT key FROM steps WHERE state = 'done' AND kind = 'agent'")
        paid = {str(key) for (key,) in found}
        ((run_id,),) = left.execute("SELECT id FROM runs")
    assert paid
    script = Script(staff())
    async with opened(root, script) as studio:
        run = await studio.engine.wait(run_id)
        assert run.state is RunState.DONE, run.error
        (held,) = voice_of(studio).tournaments()
    assert len(held.usable) == 12
    asked = Counter(str(call.request.step_key) for call in script.calls)
    assert set(asked.values()) <= {1}
    assert set(asked) & paid == set()
    assert len(asked) + len(paid) == 24
