"""What passes between a loop and its roles: messages, replies, checks, events and outcomes."""

from collections.abc import Callable
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopkit import SHAPES, SPARK, Company, Kit, block, envelope

from callboard.choreography.loop import LoopResult, StoredArtifact, read_loop
from callboard.choreography.loop.board import LoopBoard, Standing
from callboard.choreography.loop.envelope import WantedKinds, merge_responses, read_envelope
from callboard.core.run_events import QuestionAsked
from callboard.core.vocabulary import RunState
from callboard.models import Failure, Line
from callboard.store.journal.events import read_events
from callboard.store.journal.questions import list_questions
from callboard.testing.witness import finish

pytestmark = pytest.mark.anyio
GATE = ("step_7_preview_gate", "gatekeeper")
DRAFT = "step_1_topology_draft"


@pytest.mark.req("QF-10")
async def test_a_message_is_made_of_the_step_its_task_its_notes_and_what_is_wanted(
    kit: Callable[..., Kit],
) -> None:
    company = Company(says={GATE: [{"gatecheck_report": block(fix="the pier leads nowhere")}]})
    company.decides["block"] = [
        {"action": "revise", "target_step": "step_1", "instructions": "mend the pier only"}
    ]
    made = kit(company=company)
    await made.run(brief="a lighthouse")
    prompts = dict(company.prompts)
    first, second = (
        next(text for key, text in company.prompts if key == f"{n}/{DRAFT}/plotwright/ask")
        for n in sorted(int(k.split("/")[0]) for k in prompts if f"/{DRAFT}/" in k)
    )
    for text in (first, second):
        # Its history is above; the message itself is the last of it.
        message = text[text.rindex("# step_1_topology_draft") :]
        assert "Draft it." in message and "topology_notes" in message and "a lighthouse" in message
        assert "Evaluate and triage" not in text and "hook_intake" not in text
    assert "the pier leads nowhere" not in first
    assert "the pier leads nowhere" in second[second.rindex("# step_1_topology_draft") :]
    assert "mend the pier only" in second


@pytest.mark.req("QF-20")
async def test_the_context_tells_what_is_next_what_may_be_revised_and_what_must_exist(
    kit: Callable[..., Kit],
) -> None:
    company = Company(says={GATE: [{"gatecheck_report": block()}]})
    made = kit(company=company)
    await made.run()
    prompts = dict(company.prompts)
    after = next(text for key, text in company.prompts if key.endswith("/block"))
    number = next(int(key.split("/")[0]) for key in prompts if key.endswith("/block"))
    following = prompts[f"{number + 1}/next"]
    # Which step next: those that are offered, with the one of the playbook.
    assert f"- {DRAFT} (" in following and "The playbook would take: " in following
    # May a role revise after the gate spoke: what it rests on, and what is a must now.
    assert "Steps its verdict rests on: step_1_topology_draft" in after
    assert "a choice leads nowhere" in following and "can_iterate: true" in following
    # Is it stable, and which artifacts must exist.
    for each in ("required_steps", "all_artifacts_valid", "gatekeeper_approved", "produces"):
        assert each in following
    assert "blocked" in following


@pytest.mark.req("QF-29", "QF-30")
async def test_a_loop_is_run_by_name_and_asks_the_human_unless_told_otherwise(
    kit: Callable[..., Kit],
) -> None:
    blocks = [{"gatecheck_report": block(fix=f"try {n}")} for n in range(3)]
    made = kit(company=Company(says={GATE: blocks}))
    async with made.open() as studio:
        started = await studio.start("loops/story_spark", {"policy": "playbook"})
        waiting = await studio.engine.wait(started.id, settled=True)
        assert waiting.state is RunState.WAITING
        (asked,) = studio.database.read(list_questions)
        assert 2 <= len(asked.question.choices) <= 4 and asked.question.default
        ended = await finish(studio, started.id, {asked.key: "retry"})
        result = LoopResult.from_json(ended.result)
    assert result.success and result.loop == "story_spark"


@pytest.mark.req("QF-36", "QF-75")
async def test_each_step_is_told_from_its_choice_to_what_is_stored(kit: Callable[..., Kit]) -> None:
    wish = {"collaboration": {"roles": ["lore_weaver"], "reason": "the tide"}}
    asking = envelope({"topology_notes": {"body": "mine"}}, **wish)
    revise = {"style_feedback": {"verdict": "revise", "findings": [{"severity": "major"}]}}
    says = {(DRAFT, "plotwright"): [asking], ("step_5_style_check", "style_lead"): [revise]}
    made = kit(company=Company(says=says))
    ran = await made.run()
    assert ran.result.success
    names = [name for name, _ in ran.told]
    assert set(names) == {
        "opened",
        "decision",
        "role.woken",
        "step.started",
        "collaboration",
        "validation",
        "artifact.stored",
        "revision",
        "gate",
        "step.finished",
        "role.dormant",
        "checkpoint",
        "closed",
    }
    first = names[: names.index("step.finished") + 1]
    # The next step, the role that helps, and only then what is valid is stored.
    assert first == [
        "opened",
        "decision",
        "role.woken",
        "step.started",
        "decision",
        "artifact.stored",
        "collaboration",
        "validation",
        "step.finished",
    ]
    # One check for every step that makes something, each time.
    makes = [e for e in ran.events("step.finished") if e["step"][:6] != "step_8"]
    assert len(ran.events("validation")) == len(makes)


TELLS = (
    *("opened", "decision", "role.woken", "step.started", "collaboration", "artifact.stored"),
    *("validation", "gate", "revision", "step.finished", "role.dormant", "checkpoint", "closed"),
)


@pytest.mark.req("QF-145")
async def test_one_stream_tells_of_a_loop_and_of_its_question_to_the_human(
    kit: Callable[..., Kit],
) -> None:
    wish = {"collaboration": {"roles": ["lore_weaver"], "reason": "the tide"}}
    asking = envelope({"topology_notes": {"body": "mine"}}, **wish)
    blocks = [{"gatecheck_report": block(fix=f"try {n}")} for n in range(3)]
    made = kit(company=Company(says={(DRAFT, "plotwright"): [asking], GATE: blocks}))
    async with made.open() as studio:
        started = await studio.start("loops/story_spark", {"policy": "playbook"})
        assert (await studio.engine.wait(started.id, settled=True)).state is RunState.WAITING
        (asked,) = studio.database.read(list_questions)
        await finish(studio, started.id, {asked.key: "retry"})
        stream = studio.database.read(lambda c: read_events(c, run_id=started.id))
    told = [e.body.name if e.type == "emitted" else e.type for e in stream]
    assert {f"loop.{each}" for each in TELLS} <= {*told}
    (question,) = [e.body for e in stream if isinstance(e.body, QuestionAsked)]
    assert question.text == asked.question.text and question.choices == asked.question.choices
    # Asked after what was judged, answered before anything else is decided.
    at, answered = told.index("question.asked"), told.index("question.answered")
    assert told[:at].count("loop.gate") == 3 and told[at:].count("loop.gate") == 1
    assert not [each for each in told[at:answered] if each.startswith("loop.")]
    assert told.count("loop.opened") == told.count("loop.closed") == 1


@pytest.mark.req("QF-59")
async def test_a_role_is_asked_again_with_its_task_its_reply_and_its_faults_in_order(
    kit: Callable[..., Kit],
) -> None:
    made = kit(company=Company(says={(DRAFT, "plotwright"): [{}]}))
    await made.run(policy="playbook")
    prompts = dict(made.company.prompts)
    repair = prompts[f"1/{DRAFT}/plotwright/repair/1"]
    places = [repair.index(each) for each in ("CONTRACT", "Draft it.", '{"artifacts": []}')]
    assert places == sorted(places)
    assert repair.rindex("topology_notes: missing") > places[-1]
    # What stays of it in the session is the task and the reply that counts.
    later = prompts["2/step_2_section_briefs/plotwright/ask"]
    assert later.index("Draft it.") < later.index('"type": "topology_notes"')
    assert "topology_notes: missing" not in later


@pytest.mark.req("QF-60", "QF-62")
def test_a_reply_says_what_was_made_what_is_wrong_and_what_is_wished_for() -> None:
    checker: Any = _Checker()
    wanted = WantedKinds(("topology_notes",), frozenset(SHAPES), checker, 200)
    text = envelope(
        {"topology_notes": {"body": "mine"}},
        collaboration={"roles": ["lore_weaver"], "reason": "the tide"},
        revisions=[{"target_step": "step_1", "reason": "too long", "severity": "must"}],
        questions=["Which year?"],
        notes="done",
    )
    said = read_envelope("plotwright", f"Here:\n{text}", wanted)
    assert said.valid and said.artifacts == {"topology_notes": {"body": "mine"}}
    assert said.collaboration.roles == ("lore_weaver",)
    assert said.collaboration.reason == "the tide"
    assert said.revisions[0].severity == "must" and said.questions == ("Which year?",)
    assert said.raw_text.startswith("Here:")
    other = read_envelope("lore_weaver", envelope({"topology_notes": {"body": 3}}), wanted)
    assert not other.valid and other.errors[0].path == "topology_notes.body"
    # The whole is checked again, and the lead has the word.
    both = merge_responses([said, other], wanted)
    assert both.valid and both.artifacts["topology_notes"] == {"body": "mine"}
    assert both.alternatives == {"topology_notes": {"lore_weaver": {"body": 3}}}
    worse = merge_responses([other, said], wanted)
    assert not worse.valid


class _Checker:
    """Only what an envelope is held against."""

    def check(self, kind: str, content: Any) -> Any:
        from callboard.choreography.loop import Misfit

        is_text = isinstance(content.get("body"), str)
        return [] if is_text else [Misfit("body", "is no text")]


@pytest.mark.req("QF-82")
async def test_a_unit_is_closed_with_its_outcome_and_taken_up_again_in_a_new_run(
    kit: Callable[..., Kit],
) -> None:
    made = kit(company=Company(says={(DRAFT, "plotwright"): [Line(fail=Failure(500))] * 3}))
    failed = await made.run(policy="playbook")
    assert failed.run.state is RunState.FAILED
    assert failed.closed["status"] == "failed" and failed.closed["error"]
    assert [name for name, _ in failed.told if name in ("opened", "closed")] == ["opened", "closed"]
    again = await made.run(policy="playbook", unit="unit-story_spark")
    assert again.result.success and again.run.id != failed.run.id
    assert again.closed["status"] == "success" and not again.closed["error"]


@pytest.mark.req("QF-144")
async def test_a_provider_is_tried_three_times_before_the_step_fails(
    kit: Callable[..., Kit],
) -> None:
    retry = {"max_attempts": 3, "initial_delay_seconds": 0.0, "max_delay_seconds": 0.0}
    flags = {
        "models": {"default": "script"},
        "errors": {"retry": {"transient": retry, "external_degrading": retry}},
    }
    # The second attempt is the one that goes through, at its second call.
    says = {(DRAFT, "plotwright"): [Line(fail=Failure(503))] * 4}
    made = kit(company=Company(says=says))
    async with made.open(flags=flags) as studio:
        args = {"policy": "playbook", "is_interactive": False}
        started = await studio.start("loops/story_spark", args)
        ran = made.ran(studio, await finish(studio, started.id, {}))
    assert ran.result.success
    tries = [key for key, _ in made.company.calls if f"/{DRAFT}/" in key]
    assert [len(list(each)) for _, each in groupby(tries)] == [3, 2]
    assert ran.result.validation["failed_attempts"] == 1


WAYS = {
    "pending": {"pending", "done", "failed", "blocked", "reused", "skipped"},
    "done": {"done", "stale", "failed", "blocked", "reused"},
    "reused": {"reused", "stale", "done", "failed", "blocked"},
    "stale": {"stale", "done", "failed", "blocked", "reused", "skipped"},
    "failed": {"failed", "done", "blocked", "reused", "skipped"},
    "blocked": {"blocked", "done", "failed", "reused"},
    "skipped": {"skipped", "pending"},
}


@pytest.mark.req("QF-48")
@given(
    moves=st.lists(
        st.tuples(
            st.integers(0, 7),
            st.sampled_from(("done", "failed", "blocked", "reused", "skipped", "drop")),
            st.integers(0, 2),
        ),
        max_size=40,
    )
)
def test_a_step_goes_only_from_one_standing_to_those_that_may_follow(
    moves: list[tuple[int, str, int]],
) -> None:
    loop = read_loop(SPARK, "spark.yaml")
    board = LoopBoard(loop)
    for at, how, version in moves:
        before = board.steps()
        step = loop.steps[at]
        if how == "drop":
            if not board.can_drop(step):
                continue
            board.drop(step, "why")
        elif how == "skipped":
            if before[step.id] != "pending":
                continue
            board.settle(step, Standing.SKIPPED, why="asleep")
        elif not board.is_offered(step, 3) or (how == "blocked" and not step.gate):
            continue
        else:
            made = [StoredArtifact(kind, kind, f"{kind}{version}") for kind in step.produces]
            stored = () if how == "failed" else made
            board.settle(step, Standing(how), stored)
        for name, was in before.items():
            now = board.steps()[name]
            assert now in WAYS[was], (name, was, now)
            # Only what was taken is newly made; the rest can only become stale, or be asked anew.
            if name != step.id and was != now:
                assert (was, now) in {
                    ("done", "stale"),
                    ("reused", "stale"),
                    ("stale", "done"),
                    ("stale", "reused"),
                    ("skipped", "pending"),
                    ("pending", "skipped"),
                }, (name, was, now)
