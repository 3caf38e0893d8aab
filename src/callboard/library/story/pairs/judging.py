"""Judging: a model says of each pair whether both passages can be true, and code holds it to proof.

A verdict counts as a contradiction only with words of both passages that speak of it; what nobody
judged is counted as not judged, and never as fine. Passages are text to judge, never instructions.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from callboard.choreography.answers import Answer, Quote, shortened
from callboard.choreography.questions import Judge, Question
from callboard.choreography.stage import Stage
from callboard.core.codec import Coded
from callboard.core.vocabulary import Content, Trust
from callboard.library.story.model import Quote as Place
from callboard.library.story.model import Severity, StoryFinding
from callboard.library.story.pairs.matters import Matter
from callboard.library.story.pairs.pairing import Pair, Pairs
from callboard.library.story.text.words import content_words
from callboard.library.story.tools.report import counted, make_finding
from callboard.replies.evidence import normalise
from callboard.replies.evidence.quotes import find_in

_TOOL: Final = "consistency_checker"
_CONFIDENCE: Final = 0.6
_AT_ONCE: Final = 4
_ANSWER_TOKENS: Final = 220
# Tokens of the prompt around two passages and of an answer, and the letters of a token.
_PROMPT_TOKENS: Final = 330
_REPLY_TOKENS: Final = 80
_TOKEN_CHARS: Final = 4
_TYPES: Final = {
    Matter.DEATH: "Character",
    Matter.NAME: "Character",
    Matter.POSSESSION: "Character",
    Matter.TIME: "Timeline",
}


class PassageVerdict(Answer):
    """What a model says of two passages."""

    reason: Annotated[str, shortened(300)]
    verdict: Literal["contradicts", "explained", "same", "unrelated"]
    first_quote: Quote
    second_quote: Quote


JUDGE_PAIR: Final = Question(
    "continuity/judge_pair", PassageVerdict, about=("first", "second"), max_tokens=_ANSWER_TOKENS
)


@dataclass(frozen=True, slots=True)
class Candidate(Coded):
    """A pair as it is put to a model: what it may be about, both passages and where they stand."""

    subject: str
    matter: Matter
    first: Place
    second: Place
    first_shown: str
    second_shown: str


@dataclass(frozen=True, slots=True)
class Prospect(Coded):
    """The pairs that wait for a judge, how many more there are, and what judging them takes."""

    candidates: tuple[Candidate, ...]
    left_out: int

    @property
    def calls(self) -> int:
        """How many questions that is."""
        return len(self.candidates)

    @property
    def tokens(self) -> int:
        """About how many tokens all questions and answers have."""
        shown = sum(len(each.first_shown) + len(each.second_shown) for each in self.candidates)
        return shown // _TOKEN_CHARS + self.calls * (_PROMPT_TOKENS + _REPLY_TOKENS)


@dataclass(frozen=True, slots=True)
class JudgedPairs(Coded):
    """What came of the pairs."""

    findings: tuple[StoryFinding, ...] = ()
    judged: int = 0
    not_judged: int = 0
    left_out: int = 0
    # Contradictions a model claimed without words of both passages to show for it.
    unproven: int = 0
    # Why the latest one was not judged.
    why: str = ""

    def told(self) -> str:
        """Return what was judged and what was not, in a sentence."""
        parts = [f"{counted(self.judged, 'pair')} of passages judged by a model"]
        if self.not_judged:
            why = f" ({self.why})" if self.why else ""
            parts.append(f"{self.not_judged} not judged{why}")
        if self.left_out:
            parts.append(f"{self.left_out} less likely ones left out")
        if self.unproven:
            claimed = counted(self.unproven, "contradiction")
            parts.append(f"{claimed} claimed without proof and not reported")
        return "; ".join(parts)


def prospect_of(pairs: Pairs) -> Prospect:
    """Return pairs in the form in which they are kept and judged."""
    return Prospect(tuple(map(_candidate, pairs.chosen)), pairs.left_out)


def _candidate(pair: Pair) -> Candidate:
    first, second = pair.first, pair.second
    return Candidate(
        pair.subject, pair.matter, first.quote, second.quote, first.shown, second.shown
    )


async def judge_pairs(judge: Judge, prospect: Prospect) -> JudgedPairs:
    """Put every pair to a model, each once for good, and return what it can prove."""
    if judge.is_small:
        why = f"{judge.model} is too small a model to judge passages"
        return JudgedPairs(not_judged=prospect.calls, left_out=prospect.left_out, why=why)

    def ask(each: Candidate) -> Callable[[Stage], Awaitable[tuple[PassageVerdict | None, str]]]:
        async def judged(stage: Stage) -> tuple[PassageVerdict | None, str]:
            own = judge.on(stage)
            found = await own.once(
                "verdict",
                JUDGE_PAIR,
                subject=Content(each.subject or "the same thing", "subject", Trust.UNTRUSTED),
                matter=Content(each.matter.value, "matter", Trust.TRUSTED),
                first=Content(each.first_shown, each.first.path, Trust.UNTRUSTED),
                second=Content(each.second_shown, each.second.path, Trust.UNTRUSTED),
            )
            return found, own.why

        return judged

    asked = {f"pair/{n:04d}": ask(each) for n, each in enumerate(prospect.candidates, start=1)}
    answers = list((await judge.stage.parallel(asked, limit=_AT_ONCE)).values())
    return _judgement(prospect, answers, judge.model)


def _judgement(
    prospect: Prospect, answers: Sequence[tuple[PassageVerdict | None, str]], model: str
) -> JudgedPairs:
    findings: list[StoryFinding] = []
    unproven = 0
    for each, (verdict, _) in zip(prospect.candidates, answers, strict=True):
        if verdict is None or verdict.verdict != "contradicts":
            continue
        if is_proven(each, verdict):
            findings.append(_finding(each, verdict, model))
        else:
            unproven += 1
    unjudged = [why for verdict, why in answers if verdict is None]
    return JudgedPairs(
        tuple(findings),
        len(answers) - len(unjudged),
        len(unjudged),
        prospect.left_out,
        unproven,
        unjudged[-1] if unjudged else "",
    )


def is_proven(each: Candidate, verdict: PassageVerdict) -> bool:
    """Say whether a verdict quotes both passages, each its own, with words that say something."""
    first, second = verdict.first_quote, verdict.second_quote
    if normalise(first) == normalise(second):
        return False
    return all(
        quote and content_words(quote) and find_in(normalise(shown), quote)
        for quote, shown in ((first, each.first_shown), (second, each.second_shown))
    )


def _finding(each: Candidate, verdict: PassageVerdict, model: str) -> StoryFinding:
    subject = each.subject or "one thing"
    message = (
        f"{model} finds that two passages cannot both be true of {subject} ({each.matter.value}):"
        f" “{verdict.first_quote}” and “{verdict.second_quote}”. {verdict.reason}"
    )
    return make_finding(
        _TOOL,
        _TYPES.get(each.matter, "Factual"),
        Severity.MINOR,
        message,
        (each.first, each.second),
        suggestion="Read both passages; change one of them if the model is right.",
        confidence=_CONFIDENCE,
    )
