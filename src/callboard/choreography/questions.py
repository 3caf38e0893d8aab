"""Questions: what a model is asked for as a typed answer, once per input, with proof.

A question is a prompt and a type. The type is the schema that is sent, the check of what comes back
and the form in which the answer is kept.

One policy holds when nobody answers: the answer is None, which means not judged. That is never an
exception that ends the work, and no guess of code takes its place. A reply or a prompt that cannot
be used says nothing about the next question; a model that cannot be reached is not asked again by
the same judge. What a budget wants to know of the human is asked as ever, and a run that is paused
or stopped stays so.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, cast

from callboard.choreography.answers import A, Choice, one_of, read_answer, schema_of
from callboard.choreography.stage import Stage
from callboard.choreography.values import Input, as_content
from callboard.core.canonical import Json, digest
from callboard.core.vocabulary import Content, Effect, Trust
from callboard.engine.errors import StepFailed
from callboard.models.errors import InvalidReply
from callboard.prompts import TemplateRegistry
from callboard.store.records import Records
from callboard.studio.studio import Studio

KIND: Final = "answer"
_HASH_CHARS: Final = 12
_PICK_TOKENS: Final = 40
# What is wrong with one text, one reply or one prompt says nothing about the next.
_OF_ONE_QUESTION: Final = frozenset(
    {
        "invalid_reply",
        "prompt_too_long",
        "prompt_too_large",
        "schema_refused",
        "template_invalid",
        "template_not_found",
        "unknown_placeholder",
    }
)


@dataclass(frozen=True, slots=True)
class Question(Generic[A]):
    """A prompt and what is to come of it.

    `about` names the inputs whose words may be quoted; without it all may. `hints` names inputs
    that help to answer and make no other question when they change. `small` asks a model that can
    only pick; a question without it is not put to such a model. `version` goes up when an answer
    means something else than before though its prompt and its type are the same.
    """

    prompt: str
    answer: type[A]
    about: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    small: "Callable[[Judge, str, Mapping[str, str]], Awaitable[A | None]] | None" = None
    max_tokens: int | None = None
    version: int = 1

    def read(self, data: Json, told: Mapping[str, str]) -> A | None:
        """Return what can be used of a reply, its quotations held against what was shown."""
        text = "\n\n".join(told[name] for name in self.about or told)
        return read_answer(self.answer, data, text)


class Answers:
    """What models have said, by what they were asked: a pack's one memory of it.

    Only saves calls: whoever deletes all of it loses nothing but the price of asking again.
    """

    def __init__(self, studio: Studio, pack: str) -> None:
        """Take the project, and the pack whose prompts are asked and who keeps the answers."""
        self._studio = studio
        self._pack = pack
        self._records = Records(studio.database, pack, studio.clock)

    def find(self, question: Question[A], model: str, /, **inputs: Input) -> A | None:
        """Return what a model has said about these inputs before."""
        name = self.name(question, model, _told(inputs))
        return read_answer(question.answer, self.look(name))

    def name(self, question: Question[Any], model: str, told: Mapping[str, str]) -> str:
        """Return what an answer is kept under: everything that it depends on."""
        prompts: TemplateRegistry = self._studio.prompts(self._pack)
        template = prompts.get(question.prompt, self._studio.catalog.facts(model).tier)
        pieces = [each if isinstance(each, str) else each.name for each in template.body.pieces]
        shape = schema_of(question.answer)
        asked = {name: text for name, text in told.items() if name not in question.hints}
        return digest([question.prompt, question.version, pieces, shape, asked, model])

    def look(self, name: str) -> Json:
        """Return a kept answer as it is stored."""
        found = self._records.get(KIND, name)
        return None if found is None else found["answer"]

    async def keep(self, name: str, prompt: str, model: str, answer: Json) -> None:
        """Keep an answer for every later run."""
        await self._records.put(KIND, name, {"prompt": prompt, "model": model, "answer": answer})


@dataclass
class Judge:
    """Puts questions to one agent on one stage, and goes on when nobody answers."""

    stage: Stage
    agent: str
    answers: Answers
    # Who answers, and the model that is asked in place of the agent's own, if any.
    model: str
    route: str | None = None
    is_small: bool = False
    # Why the model cannot be reached; shared by all branches, so that no further call is made.
    failures: list[str] = field(default_factory=list[str])
    # Why there is no answer to the latest question.
    why: str = ""

    def on(self, stage: Stage) -> "Judge":
        """Return the judge of a branch; what one of them cannot reach, none of them can."""
        return replace(self, stage=stage, why="")

    async def once(self, key: str, question: Question[A], /, **inputs: Input) -> A | None:
        """Return the answer about these inputs, which is paid for once; None is not judged."""
        if self.is_small and question.small is None:
            self.why = f"{self.model} is too small a model for this question"
            return None
        told = _told(inputs)
        # What changes while a run is down makes another question, not a broken journal.
        mark = digest([question.prompt, schema_of(question.answer), told, self.model])
        place = f"{key}/{mark[:_HASH_CHARS]}"

        def look() -> Json:
            name = self.answers.name(question, self.model, told)
            return {"name": name, "answer": self.answers.look(name)}

        try:
            # Journaled: what is kept meanwhile must not change the way a resumed run takes.
            known = cast(
                "dict[str, Any]", await self.stage.step(f"{place}/known", look, effect=Effect.PURE)
            )
        except StepFailed as failed:
            return self._unanswered(failed)
        held = read_answer(question.answer, known["answer"])
        if held is not None:
            return held
        if self.is_small and question.small is not None:
            found = await question.small(self, place, told)
        else:
            found = await self.ask(place, question, **inputs)
        if found is not None:
            await self._keep(place, known["name"], question.prompt, found.model_dump(mode="json"))
        return found

    async def ask(self, key: str, question: Question[A], /, **inputs: Input) -> A | None:
        """Return the answer without looking for an earlier one or keeping it."""
        if self.failures:
            self.why = self.failures[0]
            return None
        try:
            return await ask(self.stage, key, self.agent, question, model=self.route, **inputs)
        except StepFailed as failed:
            return self._unanswered(failed)
        except InvalidReply as error:
            self.why = error.message
            return None

    async def pick(
        self, key: str, prompt: str, options: Sequence[str], /, **inputs: Input
    ) -> str | None:
        """Have the model pick one of several options; None if nobody answers."""
        listed = "\n".join(f"- {option}" for option in options)
        shown = {**inputs, "options": Content(listed, "options", Trust.TRUSTED)}
        asked: Question[Choice] = Question(prompt, one_of(options), max_tokens=_PICK_TOKENS)
        found = await self.ask(key, asked, **shown)
        return None if found is None else found.choice

    async def _keep(self, place: str, name: str, prompt: str, answer: Json) -> None:
        async def keep() -> None:
            await self.answers.keep(name, prompt, self.model, answer)

        await self.stage.step(f"{place}/keep", keep, effect=Effect.IDEMPOTENT)

    def _unanswered(self, failed: StepFailed) -> None:
        self.why = failed.error.message
        if failed.error.code not in _OF_ONE_QUESTION:
            self.failures.append(self.why)


async def ask(
    stage: Stage,
    key: str,
    agent: str,
    question: Question[A],
    /,
    *,
    model: str | None = None,
    **inputs: Input,
) -> A:
    """Ask once, remember nothing, and raise what goes wrong: for what a run cannot do without."""
    asked: dict[str, Any] = dict(inputs)
    reply = await stage.ask(
        key,
        agent,
        prompt=question.prompt,
        schema=schema_of(question.answer),
        max_tokens=question.max_tokens,
        model=model,
        **asked,
    )
    found = question.read(reply.data, _told(inputs))
    if found is None:
        # Only a human's own words in place of the reply come this far.
        raise InvalidReply(
            f"What stands for the reply to {question.prompt!r} has another shape than was asked",
            fix="Replace it by JSON of the shape the prompt asks for, or ask again.",
            step=key,
        )
    return found


def _told(inputs: Mapping[str, Input]) -> dict[str, str]:
    return {name: as_content(name, value).text for name, value in inputs.items()}
