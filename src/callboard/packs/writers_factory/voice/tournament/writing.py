"""Writing a passage: asked for, cleaned, and asked for once more if its length is off."""

import re
from dataclasses import dataclass
from typing import Any, Final

from callboard.choreography.small_models.plain import clean_reply
from callboard.choreography.stage import Stage
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Content, Trust
from callboard.library.story.text import count_words
from callboard.library.story.text.sentences import split_sentences
from callboard.packs.writers_factory.model import WRITER
from callboard.packs.writers_factory.voice.strategies import strategy_block

OUTSIDE_LENGTH: Final = "length outside {least}-{most} words"
_PROMPT: Final = "tournament_passage"
_AGAIN: Final = "tournament_passage_again"
# A word is about a token and a third; the rest is room for a passage that runs over.
_TOKENS_PER_WORD: Final = 2
_FENCE: Final = re.compile(r"^\s*```\w*\n(.*?)\n?```\s*$", re.DOTALL)
_HEADING: Final = re.compile(r"^\s*(?:#{1,6}\s.*|\*\*[^*\n]{1,80}\*\*|title:.*)\n+", re.IGNORECASE)
_LEAD_IN: Final = re.compile(
    r"^\s*(?:sure|certainly|of course|here(?:'s| is| are)\b|passage:)[^\n]{0,120}:\s*\n*",
    re.IGNORECASE,
)
# What a small model says when it talks about a story instead of telling it.
_ABOUT: Final = re.compile(
    r"\b(?:the|this|my|your) (?:story|narrative|passage|scene|protagonist|character|reader)s?\b"
    r"|\bnarrative voice\b|\bin conclusion\b",
    re.IGNORECASE,
)
_LEAST_TOLD_WORDS: Final = 40
_TAG: Final = re.compile(r"</?[a-z_]+(?:\s[^<>\n]*)?>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PassageOrder:
    """What is wanted of a writer."""

    model: str
    strategy: str
    test_prompt: str
    context: str
    words: int
    least: int
    most: int
    is_small: bool = False

    def fits(self, words: int) -> bool:
        """Say whether a passage has the length that was asked for."""
        return self.least <= words <= self.most


@dataclass(frozen=True, slots=True)
class Passage:
    """What a writer handed in; without words it is worthless."""

    text: str
    words: int
    flags: tuple[str, ...] = ()


async def write_passage(stage: Stage, order: PassageOrder) -> Passage:
    """Have a passage written; one whose length is off is asked for once more, and then kept."""
    first = await _ask(stage, "write", _PROMPT, order)
    if order.fits(first.words) or (not first.words and not order.is_small):
        return first
    try:
        again = await _ask(
            stage,
            "write_again",
            _AGAIN,
            order,
            had=str(first.words),
            passage=first.text,
        )
    except CallboardError:
        if not first.words:
            raise
        again = Passage("", 0)
    best = min(first, again, key=lambda each: _miss(order, each.words))
    if order.fits(best.words):
        return best
    return Passage(
        best.text, best.words, (OUTSIDE_LENGTH.format(least=order.least, most=order.most),)
    )


def cleaned(text: str, *, shown: str, is_small: bool) -> str:
    """Return the passage alone: no fence, title, lead-in or tags around it."""
    fenced = _FENCE.match(text)
    bare = _TAG.sub("", fenced[1] if fenced else text)
    bare = _HEADING.sub("", _LEAD_IN.sub("", bare)).strip()
    if not any(char.isalpha() for char in bare):
        return ""
    return _told(clean_reply(bare, shown)) if is_small else bare


async def _ask(stage: Stage, key: str, prompt: str, order: PassageOrder, **more: Any) -> Passage:
    tier = stage.studio.catalog.facts(order.model).tier
    reply = await stage.ask(
        key,
        WRITER,
        prompt=prompt,
        model=order.model,
        max_tokens=order.most * _TOKENS_PER_WORD,
        test_prompt=order.test_prompt,
        context=order.context or _trusted("Nothing yet."),
        strategy=strategy_block(stage.studio, order.strategy, tier),
        words=_trusted(str(order.words)),
        least=_trusted(str(order.least)),
        most=_trusted(str(order.most)),
        **more,
    )
    text = cleaned(reply.text, shown=order.test_prompt, is_small=order.is_small)
    return Passage(text, count_words(text))


def _trusted(text: str) -> Content:
    return Content(text, "writers_factory", Trust.TRUSTED)


def _miss(order: PassageOrder, words: int) -> int:
    """Return by how many words a length is off; nothing at all is further off than anything."""
    if not words:
        return 10 * order.most
    return max(order.least - words, words - order.most, 0)


def _told(text: str) -> str:
    """Return a text in which no sentence comes twice or talks about the story.

    Small models run in circles, and explain what they were to tell; if they do little else, the
    explanation stands.
    """
    told = _without(text, _ABOUT)
    return told if count_words(told) >= _LEAST_TOLD_WORDS else _without(text, None)


def _without(text: str, unwanted: re.Pattern[str] | None) -> str:
    said: set[str] = set()
    paragraphs: list[str] = []
    for paragraph in text.split("\n\n"):
        kept: list[str] = []
        for start, end in split_sentences(paragraph):
            sentence = paragraph[start:end]
            folded = re.sub(r"\W+", " ", sentence).strip().lower()
            is_unwanted = unwanted is not None and unwanted.search(sentence) is not None
            if folded and folded not in said and not is_unwanted:
                said.add(folded)
                kept.append(sentence)
        paragraphs.append(" ".join(kept))
    return "\n\n".join(filter(None, paragraphs))
