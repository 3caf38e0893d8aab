"""Questions: what a scene makes the reader ask, and whether the story ever returns to it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Final

from callboard.library.story.lexicon.groups import phrases_in, words_in
from callboard.library.story.model import Finding, Severity
from callboard.library.story.text.document import Document
from callboard.library.story.text.sentences import Sentence
from callboard.library.story.text.words import stem, stop_words, words_of
from callboard.library.story.thresholds import ReaderThresholds
from callboard.library.story.tools.noticing import noticed
from callboard.library.story.tools.stems import Vocabulary, different_words

_MIN_LETTERS: Final = 5
_QUESTION: Final = re.compile(r"[^.!?…“”\"]*\?")


@dataclass(frozen=True, slots=True)
class Asking:
    """A question of one document, and the stems it is about."""

    position: int
    sentence: Sentence
    about: frozenset[str]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question worth waiting for, in its scene."""

    scene: int
    position: int
    sentence: Sentence
    about: frozenset[str]


def askings_in(document: Document) -> tuple[Asking, ...]:
    """Return the questions of a scene that are about something: no small talk, no flourish."""
    asked: list[Asking] = []
    for position, sentence in enumerate(document.sentences):
        if "?" not in sentence.text or _is_answered(document, position):
            continue
        about = _about(sentence.text)
        if about:
            asked.append(Asking(position, sentence, about))
    return tuple(asked)


def questions_in(
    scene: int, askings: Sequence[Asking], names: frozenset[str], limits: ReaderThresholds
) -> tuple[Asked, ...]:
    """Return the questions of a scene that name enough besides people to be recognised again."""
    name_stems = frozenset(stem(name) for name in names)
    return tuple(
        Asked(scene, each.position, each.sentence, each.about - name_stems)
        for each in askings
        if len(each.about - name_stems) >= limits.question_nouns
    )


def taken_up_in(
    asked: Asked, documents: Sequence[Document], vocabularies: Sequence[Vocabulary]
) -> int | None:
    """Return the scene in which a question's matter is heard of again, or None."""
    rest = Vocabulary(different_words(documents[asked.scene].sentences[asked.position + 1 :]))
    if any(rest.has(root) for root in asked.about):
        return asked.scene
    later = range(asked.scene + 1, len(documents))
    return next(
        (scene for scene in later if any(vocabularies[scene].has(root) for root in asked.about)),
        None,
    )


def dropped_questions(
    documents: Sequence[Document], dropped: Sequence[Asked], limits: ReaderThresholds
) -> Iterator[Finding]:
    """Tell of questions whose matter never comes up again."""
    for asked in dropped[: limits.questions_listed]:
        yield noticed(
            "open_question",
            Severity.INFO,
            "A question the story does not come back to",
            (documents[asked.scene].quote(asked.sentence),),
            "Answer it, raise it again, or let it go unasked.",
            0.4,
        )


def _is_answered(document: Document, position: int) -> bool:
    """Say whether a spoken question gets a reply: speech in the next paragraph."""
    sentence = document.sentences[position]
    if not sentence.has_dialogue:
        return False
    following = islice(document.sentences, position + 1, None)
    return any(
        each.has_dialogue
        for each in takewhile(lambda each: each.paragraph <= sentence.paragraph + 1, following)
        if each.paragraph > sentence.paragraph
    )


def _about(text: str) -> frozenset[str]:
    about: set[str] = set()
    for question in _QUESTION.findall(text):
        words = words_of(question)
        while words and words[0] in words_in("grammar", "question_leads"):
            words = words[1:]
        if not words or words[0] not in words_in("reader", "question_words"):
            continue
        if " ".join(words).startswith(phrases_in("reader", "small_talk")):
            continue
        about.update(stem(word) for word in words if _is_key(word))
    return frozenset(about)


def _is_key(word: str) -> bool:
    plain = word.removesuffix("'s")
    return (
        len(plain) >= _MIN_LETTERS
        and plain not in stop_words()
        and plain not in words_in("prose", "unheard_words")
        and plain not in words_in("reader", "general_nouns")
    )
