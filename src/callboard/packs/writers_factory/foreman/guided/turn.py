"""A turn that code leads, for a model that can only choose and finish sentences.

Code knows the mode, the next gap and what the message is to it; it records answers by the same
executor as any reply and always proposes the next step. Nothing a model says here is parsed for
anything, and a model that fails is done without.
"""

import re
from collections.abc import Sequence
from typing import Any, Final, cast

from callboard.choreography.small_models.forms import Form
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.errors import ProviderError
from callboard.engine.errors import StepFailed
from callboard.packs.writers_factory.action import CHALLENGE
from callboard.packs.writers_factory.foreman.actions import ActionResult
from callboard.packs.writers_factory.foreman.foreman import Foreman, PastTurn, TurnRound
from callboard.packs.writers_factory.foreman.guided.gaps import BookGap, Gaps, fill, load_wording
from callboard.packs.writers_factory.foreman.guided.plan import (
    GuidedMessage,
    GuidedPlan,
    done_works,
    gap_from_json,
    gap_to_json,
    make_plan,
    waiting_to_json,
)
from callboard.packs.writers_factory.foreman.guided.recall import filed_lines, plain, recall, short
from callboard.packs.writers_factory.foreman.hearing import MessageKind, WriterWords
from callboard.packs.writers_factory.foreman.talk.account import (
    MESSAGE_EVENT,
    TurnAccount,
    TurnOpening,
    take_back_last,
)
from callboard.packs.writers_factory.foreman.talk.asking import style_lint
from callboard.packs.writers_factory.model import FOREMAN
from callboard.replies import Action

_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_SENTENCE_TOKENS: Final = 48
_LONGEST_ANSWER_CHARS: Final = 2000
_FEWEST_PREMISE_WORDS: Final = 6
_MOST_QUOTES: Final = 3
_SAID: Final = {
    MessageKind.NO: "not_filed",
    MessageKind.REQUEST: "cannot",
    MessageKind.COMPLAINT: "mend",
    MessageKind.UNDECIDED: "undecided",
    MessageKind.UNREADABLE: "unreadable",
}


class GuidedTurn:
    """A turn while it is made, led by code."""

    def __init__(
        self, foreman: Foreman, stage: Stage, opening: TurnOpening, said: Sequence[PastTurn]
    ) -> None:
        """Take what the turn begins with."""
        self.foreman = foreman
        self.stage = stage
        self.opening = opening
        self.said = said
        self.message = str(stage.run.args["message"])[:_LONGEST_ANSWER_CHARS]
        self.words = load_wording()
        self.model = opening.route.candidates[0].model or foreman.own_model
        self.gaps = Gaps(self.words, (self.model,))
        self.account = TurnAccount(model=self.model, reason=opening.route.candidates[0].reason)
        given = cast("dict[str, str]", stage.run.args.get("active") or {})
        self.active = {str(key): str(value) for key, value in given.items()}

    async def perform(self) -> dict[str, Json]:
        """Answer the writer's message."""
        plan = GuidedPlan.from_json(await self.stage.step("plan", self._plan), self.gaps)
        results = await self._do(plan)
        self.account.take_results(results)
        parts = await self._parts(plan, results)
        after = cast(
            "dict[str, Json]", await self.stage.step("after", lambda: self._after(plan.skipped))
        )
        gap = gap_from_json(after["gap"], self.gaps)
        waiting = self._waiting(plan)
        parts.append(self._confirm(plan) if waiting else self._next(gap, plan, results))
        message = "\n\n".join(part for part in parts if part)
        self.account.style += style_lint(message)
        told = tuple(each.brief() for each in results)
        self.account.rounds.append(TurnRound(message, told))
        await self.stage.emit(MESSAGE_EVENT, {"message": message, "mode": self.opening.mode})
        tier = self.stage.studio.catalog.facts(self.model).tier.value
        return {
            **self.account.result(self.opening, tier),
            "gap": after["gap"],
            "kind": plan.kind.value,
            "waiting": waiting_to_json(waiting),
            "skipped": list(plan.skipped),
        }

    def _plan(self) -> Json:
        state = self.foreman.state(self.active)
        asked = GuidedMessage(self.message, state, self.said)
        return make_plan(self.foreman, self.gaps, asked).to_json()

    def _after(self, skipped: Sequence[str]) -> Json:
        state = self.foreman.state(self.active)
        works = done_works(self.said) | {
            each.type for each in self.account.results if each.is_executed
        }
        return {"gap": gap_to_json(self.gaps.next_gap(state, works, skipped)), "mode": state.mode}

    async def _do(self, plan: GuidedPlan) -> tuple[ActionResult, ...]:
        actions = self._actions(plan)
        if not actions:
            return ()
        words = WriterWords.of_turn((), is_confirmed=True)
        return await self.foreman.executor.execute(
            self.stage, "action", actions, self.opening.mode, words
        )

    def _actions(self, plan: GuidedPlan) -> tuple[Action, ...]:
        """Return what a message has done; only what is plainly an answer fills a gap."""
        kind, gap = plan.kind, plan.gap
        if kind is MessageKind.YES:
            return plan.waiting
        if kind is MessageKind.GO_ON:
            return (gap.action,) if gap.action is not None and plan.job is None else ()
        if kind in (MessageKind.PREFERENCE, MessageKind.CORRECTION):
            return (_remember(kind.value, self.message),)
        if self._is_premise(plan):
            return (_remember("structure", self.message, key="premise"),)
        if kind is not MessageKind.ANSWER:
            return ()
        filled = self._filling(plan)
        return () if filled is None else (filled,)

    def _filling(self, plan: GuidedPlan) -> Action | None:
        """Return what fills the gap with the words that were said, if they can."""
        if not plan.was_asked or plan.weakness is not None or plan.job is not None:
            return None
        return self.gaps.action_for(plan.gap, plan.value) if plan.value else None

    def _waiting(self, plan: GuidedPlan) -> tuple[Action, ...]:
        """Return what is filed if the writer says yes next."""
        filled = self._filling(plan) if plan.kind is MessageKind.MAYBE else None
        return () if filled is None else (filled,)

    def _is_premise(self, plan: GuidedPlan) -> bool:
        is_told = plan.kind in (MessageKind.ANSWER, MessageKind.MAYBE, MessageKind.UNDECIDED)
        return (
            is_told
            and not plan.was_asked
            and not self.said
            and plan.gap.field == "name"
            and len(self.message.split()) >= _FEWEST_PREMISE_WORDS
            and not self.message.rstrip().endswith("?")
        )

    def _confirm(self, plan: GuidedPlan) -> str:
        return self.words.say("confirm", title=plan.gap.title, value=short(plan.value))

    async def _parts(self, plan: GuidedPlan, results: tuple[ActionResult, ...]) -> list[str]:
        kind, says = plan.kind, self.words.say
        if results:
            return await self._about(plan, results[0])
        if kind in (MessageKind.ANSWER, MessageKind.MAYBE) and plan.was_asked and plan.weakness:
            return self._challenge(plan.gap, [plan.weakness])
        if kind is MessageKind.QUESTION:
            return await self._found()
        if kind is MessageKind.UNDO:
            told = await take_back_last(self.foreman, self.stage)
            return [says("nothing_back") if told is None else short(told)]
        if kind is MessageKind.SHOW:
            lines = filed_lines(self.foreman.rooms)
            return ["\n".join([says("filed"), *lines]) if lines else says("nothing_filed")]
        if kind is MessageKind.SKIP:
            return [says("skipped", title=plan.gap.title)]
        if kind is MessageKind.GO_ON and plan.job is None:
            unmet = "; ".join(self.foreman.state(self.active).unmet[:3])
            return [says("closed", unmet=short(unmet))] if unmet else [says("heard")]
        if kind in (MessageKind.ORIENT, MessageKind.HELP, MessageKind.GO_ON, MessageKind.MAYBE):
            return []
        return [says(_SAID.get(kind, "heard"))]

    async def _about(self, plan: GuidedPlan, result: ActionResult) -> list[str]:
        says, gap, kind = self.words.say, plan.gap, plan.kind
        if challenges := _challenges(result, gap.field):
            return self._challenge(gap, challenges)
        if not result.is_executed:
            return [says("failed", detail=short(result.detail))]
        if result.type == "advance_mode":
            return [says("entered", mode=str(gap.values.get("mode", "the next mode")))]
        if kind in (MessageKind.PREFERENCE, MessageKind.CORRECTION):
            return [says("remembered", value=short(self.message)), says("undo")]
        if self._is_premise(plan):
            return [says("premise", value=short(self.message)), says("undo")]
        if result.job is not None or kind is MessageKind.GO_ON:
            return [says("started", detail=short(result.detail))]
        value = plan.value if kind is MessageKind.ANSWER else _content(plan.waiting)
        data = cast("dict[str, Any]", result.data or {})
        place = str(data.get("path") or "the book's memory")
        taken = says("taken", title=gap.title, value=short(value), place=place)
        if not gap.is_judged:
            return [taken]
        return [taken, await self._sentence(gap)]

    def _challenge(self, gap: BookGap, reasons: Sequence[str]) -> list[str]:
        parts = [self.words.say("challenge", reason=short(each)) for each in reasons[:2]]
        # A check that knows better words has said them already.
        if gap.examples and not any("Instead:" in each for each in reasons):
            parts.append(self.words.say("instead", examples="; ".join(gap.examples)))
        return parts

    async def _sentence(self, gap: BookGap) -> str:
        """Return a sentence the model finished, or nothing if it cannot stand."""
        opening = self.words.sentences.get(gap.id)
        name = gap.values.get("name", "")
        if opening is None or not re.fullmatch(r"[\w' -]{1,40}", name):
            return ""
        form = Form(fill(opening, gap.values), "")
        studio = self.stage.studio
        try:
            reply = await self.stage.ask(
                "sentence",
                FOREMAN,
                prompt="guided_sentence",
                schema=form.schema(self.message),
                max_tokens=_SENTENCE_TOKENS,
                book=self.stage.user(plain(gap.why)),
                said=self.stage.user(plain(self.message)),
                before=self.stage.user(form.before),
            )
        except (ProviderError, StepFailed):
            return ""
        self.account.prompt_ids.append(reply.prompt_id)
        chosen = form.chosen({"data": reply.data})
        made = plain(form.filled(chosen, self.message, studio.counter.count))
        return made if _is_about(made.removeprefix(form.before.strip()), self.message) else ""

    async def _found(self) -> list[str]:
        async def look() -> Json:
            told = await recall(self.foreman.rooms, self.message)
            return [[text, where] for text, where in told[:_MOST_QUOTES]]

        found = cast("list[tuple[str, str]]", await self.stage.step("found", look))
        if not found:
            return [self.words.say("not_found")]
        quotes = "\n".join(f"> {short(text)} ({plain(where)})" for text, where in found)
        return [self.words.say("found"), quotes]

    def _next(self, gap: BookGap, plan: GuidedPlan, results: tuple[ActionResult, ...]) -> str:
        says = self.words.say
        job = next((each.job for each in results if each.job), None)
        if job is not None and results[0].data and gap.id == plan.gap.id:
            return says("working", job=job)
        if plan.job is not None and gap.id == plan.gap.id:
            return says("again", job=plan.job)
        lines = [says("next", title=plain(gap.title), why=plain(gap.why))]
        if gap.fault and not plan.weakness:
            lines.append(says("challenge", reason=short(gap.fault)))
        if gap.examples and not plan.weakness:
            lines.append(says("example", examples="; ".join(map(plain, gap.examples))))
        lines.append(plain(gap.ask))
        return "\n".join(lines)


def _content(actions: Sequence[Action]) -> str:
    """Return the words a waiting action would file."""
    texts: list[str] = []
    for each in actions:
        fields = cast("dict[str, Any]", each.content.get("content") or {})
        texts += [str(value) for value in (fields or {"": each.content.get("value", "")}).values()]
    return "; ".join(texts)


def _challenges(result: ActionResult, field: str) -> list[str]:
    """Return why what was recorded for a field does not hold."""
    told = [*result.notices, *([] if result.is_executed else [result.detail])]
    found = [each.partition(CHALLENGE)[2].strip() for each in told if CHALLENGE in each]
    if not result.is_executed:
        return found
    own = [each.partition(": ") for each in found]
    return [reason for name, _, reason in own if name == field]


def _is_about(made: str, material: str) -> bool:
    """Say whether what was made up takes anything up that the writer said."""
    said = {word.lower() for word in _WORD.findall(material)}
    return any(word.lower() in said for word in _WORD.findall(made))


def _remember(category: str, message: str, key: str = "") -> Action:
    words = re.findall(r"[a-z0-9]+", message.lower())[:7]
    named = key or "_".join(words) or "note"
    return Action(
        "save_decision",
        {"category": category, "key": named, "value": message, "source": "writer_stated"},
    )
