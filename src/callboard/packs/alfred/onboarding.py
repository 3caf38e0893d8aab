"""Answering what Alfred asks once, from the command line."""

from collections.abc import Sequence
from dataclasses import asdict

from callboard.cli.output import clean, echo, echo_json
from callboard.core.canonical import plain
from callboard.core.errors import InvalidInput
from callboard.packs.alfred.house import Alfred


async def answer_questions(
    alfred: Alfred, answers: Sequence[str], *, user: str | None, as_json: bool
) -> None:
    """Give answers, then print what is still open."""
    who = alfred.who(user)
    for each in answers:
        question, equals, answer = each.partition("=")
        if not equals:
            raise InvalidInput(
                f"{each!r} is no answer", fix="Write it as QUESTION=ANSWER; empty skips it."
            )
        await alfred.answer_onboarding(who, question.strip(), answer.strip())
    state = await alfred.onboarding(who)
    if as_json:
        left = [asdict(each) for each in state.open]
        echo_json(plain({"open": left, "answered": dict(state.answers)}))
        return
    if not state.open:
        echo("Everything has been asked.")
    for question in state.open:
        options = f"  ({', '.join(question.options)})" if question.options else ""
        echo(clean(f"{question.id}: {question.text}{options}"))
