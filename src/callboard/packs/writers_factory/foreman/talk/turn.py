"""One turn with the Foreman: ask, show, do, tell, and ask once more where something was learned.

Everything that must not be lost is a step of the run. What a reply asks for is data; the executor
decides what of it is done.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, Final, cast

from callboard.choreography.operating import attempt
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.vocabulary import Content, Trust
from callboard.packs.writers_factory.action import CHALLENGE
from callboard.packs.writers_factory.bible.filings import Filings
from callboard.packs.writers_factory.bible.judging import judge_template
from callboard.packs.writers_factory.bible.operations import challenges_of
from callboard.packs.writers_factory.foreman.actions import ActionResult, cause_of
from callboard.packs.writers_factory.foreman.foreman import (
    Foreman,
    PastTurn,
    TurnRound,
    round_turns,
    turns_of,
    waiting_from_json,
)
from callboard.packs.writers_factory.foreman.hearing import (
    WriterWords,
    is_agreement,
    is_taking_back,
)
from callboard.packs.writers_factory.foreman.operations import propose_text
from callboard.packs.writers_factory.foreman.sandwich import TurnText
from callboard.packs.writers_factory.foreman.state import ForemanState
from callboard.packs.writers_factory.foreman.talk.account import (
    MESSAGE_EVENT,
    TurnAccount,
    TurnOpening,
    take_back_last,
)
from callboard.packs.writers_factory.foreman.talk.asking import ForemanReply, TurnAsker, style_lint
from callboard.packs.writers_factory.model import FOREMAN, PACK, TemplateStatus
from callboard.packs.writers_factory.revision.editing.proposals import EditProposal
from callboard.prompts import Turn, render_template
from callboard.replies import ContentUpdate

_FOLLOW_UP: Final = "action_follow_up"
_REWRITE: Final = "style_rewrite"
_NO_WORDS: Final = "no_words"
_ACTED: Final = "The Foreman acted without a word; what it asked for is listed below."
_INSTEAD: Final = "What is to stand there instead?"
_NOBODY_ASKED: Final = "what was filed is taken back without a model"
_SILENT: Final = "The model sent no answer. Say it again, or choose another model."


class TalkedTurn:
    """A turn while it is made, with a model that speaks for itself."""

    def __init__(
        self, foreman: Foreman, stage: Stage, opening: TurnOpening, said: Sequence[PastTurn]
    ) -> None:
        """Take what the turn begins with."""
        self.foreman = foreman
        self.stage = stage
        self.opening = opening
        self.before = turns_of(list(said))
        self.message = str(stage.run.args["message"])
        last = said[-1].result if said else {}
        self.waiting = waiting_from_json(last) if is_agreement(self.message) else ()
        told = f"{last.get('message', '')} {last.get('waiting') or ''}"
        messages = [*(each.message for each in said), self.message]
        self.words = WriterWords.of_turn(messages, told, standing=_standing(foreman))
        self.account = TurnAccount()
        self.asker = TurnAsker(foreman, stage, opening.route)
        self.settings = foreman.workspace.settings.foreman
        given = cast("dict[str, str]", stage.run.args.get("active") or {})
        self.active = {str(key): str(value) for key, value in given.items()}

    async def perform(self) -> dict[str, Json]:
        """Answer the writer's message."""
        message = self.stage.user(self.message)
        turns: list[Turn] = list(self.before)
        if await self._is_taken_back():
            return self.account.result(self.opening, "")
        await self._file_waiting()
        latest = message
        for number in range(self.settings.max_action_rounds + 1):
            done = await self._round(f"round/{number + 1}", latest, tuple(turns))
            is_learned = any(each.is_informational and each.is_executed for each in done)
            if not is_learned or number == self.settings.max_action_rounds:
                break
            if number == 0:
                turns.append(Turn(message))
            turns += round_turns(self.account.rounds[-1])
            latest = self._text(_FOLLOW_UP)
        tier = self.stage.studio.catalog.facts(self.account.model).tier.value
        return self.account.result(self.opening, tier)

    async def _is_taken_back(self) -> bool:
        """Take back what was filed last, if that is all the writer wants; no model is asked."""
        if not is_taking_back(self.message):
            return False
        told = await take_back_last(self.foreman, self.stage)
        if told is None:
            return False
        shown = f"{told}\n\n{_INSTEAD}"
        self.account.rounds.append(TurnRound(shown))
        self.account.model, self.account.reason = self.foreman.own_model, _NOBODY_ASKED
        await self.stage.emit(MESSAGE_EVENT, {"message": shown, "mode": self.opening.mode})
        return True

    async def _file_waiting(self) -> None:
        """File what the writer was shown and has said yes to."""
        if not self.waiting:
            return
        results = await self.foreman.executor.execute(
            self.stage,
            "confirmed",
            self.waiting,
            self.opening.mode,
            replace(self.words, is_confirmed=True),
        )
        self.account.take_results(results)
        self.account.rounds.append(TurnRound("", tuple(each.brief() for each in results)))

    async def _round(
        self, key: str, message: Content, turns: tuple[Turn, ...]
    ) -> tuple[ActionResult, ...]:
        text = TurnText(message, turns, self.settings.include_thinking_reminder)
        state = self._state()
        said = await self.asker.ask(f"{key}/reply", state, text)
        shown = await self._in_manner(key, said, state, turns)
        self._take(said)
        await self.stage.emit(MESSAGE_EVENT, {"message": shown, "mode": state.mode})
        results = await self.foreman.executor.execute(
            self.stage, f"{key}/action", said.reply.actions, state.mode, self.words
        )
        await self._judge(key, results)
        await self._tell_filed(key)
        updates = await self._propose(key, said.reply.content_updates, state.mode)
        told = [*(each.brief() for each in results), *updates]
        self.account.rounds.append(TurnRound(shown, tuple(told)))
        self.account.take_results(results)
        return results

    async def _tell_filed(self, key: str) -> None:
        """Say what this turn has filed, so that it can be seen and taken back at once."""
        run_id, filings = self.stage.run.id, Filings(self.foreman.workspace)

        def told() -> Json:
            own = (each for each in filings.all() if each.run_id == run_id)
            return [f"filed: {each.told}; say undo and it is taken back" for each in own]

        self.account.notices += cast("list[str]", await self.stage.step(f"{key}/filed", told))

    def _state(self) -> ForemanState:
        return self.foreman.state(self.active)

    def _take(self, said: ForemanReply) -> None:
        account, reply = self.account, said.reply
        account.model, account.reason = said.model, said.reason
        account.prompt_ids += [said.prompt_id] if said.prompt_id else []
        account.warnings += [str(warning) for warning in reply.warnings]
        account.thinking += [reply.thinking] if reply.thinking else []
        account.notices += said.switches

    async def _in_manner(
        self, key: str, said: ForemanReply, state: ForemanState, turns: tuple[Turn, ...]
    ) -> str:
        """Return the message to show: the reply's own, or once more if its manner is off."""
        message = said.reply.message
        if not message:
            self.account.warnings.append(_NO_WORDS)
            return _ACTED if said.reply.actions or said.reply.content_updates else _SILENT
        faults = style_lint(message)
        if faults and self.settings.strict_style:
            listed = Content("\n".join(f"- {f.replace('_', ' ')}" for f in faults), "style")
            request = self._text(_REWRITE, message=_of_model(message), faults=listed)
            again = await self.asker.ask(f"{key}/manner", state, TurnText(request, turns, False))
            self.account.prompt_ids += [again.prompt_id] if again.prompt_id else []
            if again.reply.message:
                message = again.reply.message
                faults = style_lint(message)
        self.account.style += faults
        return message

    async def _judge(self, key: str, results: Sequence[ActionResult]) -> None:
        """Have a judge read every template a reply has completed, and pass its challenges on."""
        named = dict.fromkeys(_completed(each) for each in results)
        for name in filter(None, named):
            bible = self.foreman.rooms.bible
            await judge_template(self.stage, f"{key}/judge/{name}", bible, name)
            judged = challenges_of(bible.template(name))
            self.account.notices += [f"{CHALLENGE} {field}: {reason}" for field, reason in judged]

    async def _propose(
        self, key: str, updates: Sequence[ContentUpdate], mode: str
    ) -> list[dict[str, Json]]:
        made: list[dict[str, Json]] = []
        unique = {(each.target, each.content): each for each in updates}
        for number, update in enumerate(unique.values(), start=1):
            proposal = await self._proposal(f"{key}/update/{number}", update, mode)
            made.append(proposal)
            self.account.updates.append(proposal)
            if proposal["status"] != "executed":
                self.account.notices.append(f"{update.target}: {proposal['detail']}")
        return made

    async def _proposal(self, key: str, update: ContentUpdate, mode: str) -> dict[str, Json]:
        told: dict[str, Json] = {"type": "content_update", "target": update.target}
        cause = asdict(cause_of(self.stage, key, mode))
        args = {"cause": cause, "target": update.target, "text": update.content}
        tried = await attempt(
            self.stage, f"{key}/do", self.foreman.operations, propose_text, args, agent=FOREMAN
        )
        error = tried.receipt.error
        if error is not None:
            detail = f"{error.message} {error.fix or ''}".strip()
            return {**told, "status": "denied", "detail": detail}
        made = cast("EditProposal", tried.result)
        detail = f"proposal {made.id} for {made.target} waits for you"
        more = {"detail": detail, "proposal": made.id, "path": made.path}
        return {**told, "status": "executed", **more}

    def _text(self, name: str, **values: Content) -> Content:
        template = self.stage.studio.prompts(PACK).get(name)
        return render_template(template, values)


def _standing(foreman: Foreman) -> str:
    """Return what stands in the Story Bible already; to say it again files nothing new."""
    order = foreman.rooms.bible.work_order()
    return " ".join(str(value) for each in order.templates for value in each.fields.values())


def _completed(result: ActionResult) -> str:
    """Return the template a result says is complete, or nothing."""
    data: Any = result.data
    if not isinstance(data, dict):
        return ""
    data = cast("dict[str, Json]", data)
    is_complete = data.get("status") == TemplateStatus.COMPLETE.value
    return str(data.get("template") or "") if is_complete else ""


def _of_model(text: str) -> Content:
    return Content(text, "agent:foreman", Trust.UNTRUSTED)
