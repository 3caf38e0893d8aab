"""The last rung: one small question after another, the whole put together by code.

What the model writes on the way is no text of the reply; the reply is the assembled JSON.
"""

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Final

from callboard.core.canonical import compact_json
from callboard.core.errors import CallboardError
from callboard.models.gate import Gate
from callboard.models.ladder.answers import (
    BrokenStructure,
    answer_schema,
    check_value,
    read_answer,
    read_keyed,
    shown_choice,
)
from callboard.models.ladder.climb import Climb, is_refusal, say, wording
from callboard.models.ladder.questions import (
    Given,
    QuestionKind,
    SmallQuestion,
    Splitter,
    assemble,
    count_limits,
)
from callboard.models.types import (
    Chunk,
    Finished,
    ModelReply,
    ModelRequest,
    Rung,
    TextChunk,
    Working,
)

_TRIES: Final = 2
_LIMITS: Final = (
    ("minimum", "At least {}."),
    ("maximum", "At most {}."),
    ("minLength", "At least {} characters."),
    ("maxLength", "At most {} characters."),
    ("minItems", "At least {} entries."),
    ("maxItems", "At most {} entries."),
)


class Interview:
    """One run of questions through a gate, for one climb."""

    def __init__(self, gate: Gate, climb: Climb, max_questions: int) -> None:
        """Take the way to the model, the account to keep, and how much may be asked."""
        self._gate = gate
        self._climb = climb
        self._max_questions = max_questions
        self._splitter = Splitter(climb.schema)
        self._parts: list[Given] = []
        self._known: list[str] = []
        self._asked = 0

    async def hold(self) -> AsyncGenerator[Chunk]:
        """Ask everything there is to ask; the outcome is in the climb."""
        pending = deque(self._splitter.split())
        self._climb.problem = None
        while pending and self._climb.problem is None:
            step = pending.popleft()
            if isinstance(step, Given):
                self._parts.append(step)
                continue
            answers: list[Given] = []
            async with aclosing(self._settle(step, answers)) as chunks:
                async for chunk in chunks:
                    yield chunk
            for answer in answers:
                if step.kind is QuestionKind.COUNT:
                    pending.extendleft(reversed([*self._splitter.split_items(step, answer.value)]))
                else:
                    self._parts.append(answer)
        self._conclude()
        if self._climb.problem is None and self._climb.answer is not None:
            yield TextChunk(self._climb.answer.text)

    async def _settle(self, question: SmallQuestion, answers: list[Given]) -> AsyncGenerator[Chunk]:
        """Ask one question, twice if need be; a usable answer is added to `answers`."""
        problem = ""
        for _ in range(_TRIES):
            if self._asked == self._max_questions:
                self._climb.problem = f"it takes more than {self._max_questions} small questions"
                return
            self._asked += 1
            yield Working(f"asking for {question.field}")
            heard: list[ModelReply] = []
            async with aclosing(self._ask(question, problem, heard)) as chunks:
                async for chunk in chunks:
                    yield chunk
            text = heard[0].text if heard else ""
            try:
                read = read_keyed if self._climb.has_grammar else read_answer
                value = read(question, text)
            except BrokenStructure as broken:
                problem = str(broken)
                continue
            answers.append(Given(question.place, value))
            self._known.append(f"- {question.field}: {shown_choice(value)}")
            return
        if question.is_required:
            self._climb.problem = f"{question.field}: {problem}"

    async def _ask(
        self, question: SmallQuestion, problem: str, heard: list[ModelReply]
    ) -> AsyncGenerator[Chunk]:
        request = self._request(question, problem)
        try:
            async with aclosing(self._gate.stream(request)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, Finished):
                        self._climb.answer = self._climb.count(chunk.reply)
                        heard.append(chunk.reply)
                    elif isinstance(chunk, Working):
                        yield chunk
        except CallboardError as error:
            if request.json_schema is not None and is_refusal(error):
                # Even this small schema is too much for the grammar: plain words from here on.
                self._climb.has_grammar = False
                return
            # The answers so far were paid for: whoever looks into the failure finds them.
            error.context.setdefault("answers", assemble(self._parts))
            raise

    def _request(self, question: SmallQuestion, problem: str) -> ModelRequest:
        told = [wording("question", field=question.field)]
        if question.about:
            told.append(wording("about", about=question.about))
        if self._known:
            told.append(wording("known", known="\n".join(self._known)))
        if problem:
            told.append(wording("again", problem=problem))
        told.append(_how(question))
        request = self._climb.within_time(self._climb.request)
        schema, rung = None, Rung.SMALLER
        if self._climb.has_grammar:
            schema, rung = answer_schema(question), Rung.GRAMMAR
            told.append(wording("key"))
        asked = say(request, "\n\n".join(told))
        return replace(asked, json_schema=schema, rungs=(rung,))

    def _conclude(self) -> None:
        """Put the answers together and judge the whole."""
        climb = self._climb
        climb.was_cut = False
        value = assemble(self._parts)
        if climb.problem is not None:
            # What the model said before says more than the little that came out of questions.
            climb.rejected = climb.rejected or compact_json(value)
            return
        climb.rejected = compact_json(value)
        if climb.answer is None:
            climb.answer = ModelReply(climb.rejected, climb.request.model)
        try:
            check_value(value, climb.schema)
        except BrokenStructure as broken:
            climb.problem = str(broken)
            return
        climb.data = value
        climb.answer = replace(climb.answer, text=climb.rejected, finish_reason="stop")


def _how(question: SmallQuestion) -> str:
    """Return in which form to answer."""
    match question.kind:
        case QuestionKind.CHOICE | QuestionKind.PICKS:
            numbered = enumerate(question.choices, 1)
            listed = "\n".join(f"{number}. {shown_choice(choice)}" for number, choice in numbered)
            return wording(question.kind, choices=listed)
        case QuestionKind.COUNT:
            least, most = count_limits(question)
            return wording("count", limits=f"At least {least}. At most {most}.")
        case QuestionKind.JSON:
            return wording("json", schema=compact_json(dict(question.schema)))
        case _:
            limits = [
                phrase.format(question.schema[key])
                for key, phrase in _LIMITS
                if key in question.schema
            ]
            return wording(question.kind, limits=" ".join(limits))
