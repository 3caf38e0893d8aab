"""Setups: the questions a scene raises and the objects it plants, and whether they return."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, takewhile
from typing import Final

from callboard.library.story.lexicon import phrases_in, words_in
from callboard.library.story.model import Severity, StoryFinding
from callboard.library.story.text.document import Document
from callboard.library.story.text.sentences import Sentence
from callboard.library.story.text.words import stem, stop_words, words_of
from callboard.library.story.thresholds import ReaderThresholds
from callboard.library.story.tools.report import noticed, quotes_of
from callboard.library.story.tools.stems import TextVocabulary, different_words

_MIN_LETTERS: Final = 5
_QUESTION: Final = re.compile(r"[^.!?…“”\"]*\?")
_MAX_MODIFIERS: Final = 2
Namings = Mapping[str, Sequence["Naming"]]


@dataclass(frozen=True, slots=True)
class Asking:
    """A question of one document, and the stems it is about."""

    position: int
    sentence: Sentence
    about: frozenset[str]


@dataclass(frozen=True, slots=True)
class RaisedQuestion:
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
) -> tuple[RaisedQuestion, ...]:
    """Return the questions of a scene that name enough besides people to be recognised again."""
    name_stems = frozenset(stem(name) for name in names)
    return tuple(
        RaisedQuestion(scene, each.position, each.sentence, each.about - name_stems)
        for each in askings
        if len(each.about - name_stems) >= limits.question_nouns
    )


def taken_up_in(
    asked: RaisedQuestion, documents: Sequence[Document], vocabularies: Sequence[TextVocabulary]
) -> int | None:
    """Return the scene in which a question's matter is heard of again, or None."""
    rest = TextVocabulary(different_words(documents[asked.scene].sentences[asked.position + 1 :]))
    if any(rest.has(root) for root in asked.about):
        return asked.scene
    later = range(asked.scene + 1, len(documents))
    return next(
        (scene for scene in later if any(vocabularies[scene].has(root) for root in asked.about)),
        None,
    )


def dropped_questions(
    documents: Sequence[Document], dropped: Sequence[RaisedQuestion], limits: ReaderThresholds
) -> Iterator[StoryFinding]:
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


@dataclass(frozen=True, slots=True)
class Planted:
    """A thing one scene names as something known, again and again."""

    stem: str
    label: str
    is_prop: bool
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Naming:
    """One place a thing is named, and the words it is named by."""

    sentence: Sentence
    label: str


def namings_in(document: Document) -> Namings:
    """Return every place where a thing is named as something the reader knows, by its stem."""
    namings: defaultdict[str, list[Naming]] = defaultdict(list)
    forms = _noun_forms()
    for sentence in document.sentences:
        for index, word in enumerate(sentence.words):
            if word not in forms or _is_modifier(sentence.words, index):
                continue
            label = _definite_label(sentence.words, index)
            if label:
                namings[forms[word]].append(Naming(sentence, label))
    return namings


def planted_things(namings: Namings, limits: ReaderThresholds) -> tuple[Planted, ...]:
    """Return the things a scene names often enough to make a reader wait for them."""
    return tuple(
        Planted(
            root, _common_label(found), root in _props(), tuple(each.sentence for each in found)
        )
        for root, found in sorted(namings.items())
        if len(found) >= (limits.setup_mentions_prop if root in _props() else limits.setup_mentions)
    )


def setups_without_payoff(
    documents: Sequence[Document],
    planted: Sequence[Sequence[Planted]],
    vocabularies: Sequence[TextVocabulary],
    limits: ReaderThresholds,
) -> Iterator[StoryFinding]:
    """Tell of things planted early that no later scene names."""
    early = limits.setup_share * len(documents)
    for scene, (document, things) in enumerate(zip(documents, planted, strict=True)):
        later = vocabularies[scene + 1 :]
        if scene >= early or not later:
            break
        for thing in things:
            if any(each.has(thing.stem) for each in later):
                continue
            yield noticed(
                "setup_without_payoff",
                Severity.MINOR,
                f"“{thing.label}” is named {len(thing.sentences)} times in one scene and never"
                " again",
                quotes_of(document, thing.sentences, 3),
                "Bring it back where it matters, or let it be one thing among others here.",
                0.5 if thing.is_prop else 0.7,
            )


@cache
def _props() -> frozenset[str]:
    return frozenset(stem(word) for word in words_in("reader", "props"))


@cache
def _noun_forms() -> Mapping[str, str]:
    """Return the stem of every form that is a noun: a verb shares the stem of many a thing."""
    nouns = words_in("reader", "things") | words_in("reader", "props")
    forms = {form for noun in nouns for form in _forms(noun)}
    return {form: stem(form) for form in forms}


def _forms(noun: str) -> Iterator[str]:
    yield noun
    if noun.endswith("s"):
        return
    if noun.endswith(("x", "sh", "ch")):
        yield f"{noun}es"
    elif noun.endswith("y") and noun[-2] not in "aeiou":
        yield f"{noun[:-1]}ies"
    elif noun.endswith("fe"):
        yield f"{noun[:-2]}ves"
    else:
        yield f"{noun}s"


def _is_modifier(words: Sequence[str], index: int) -> bool:
    """Say whether the word only describes the next: the key ring, the letter box."""
    after = words[index + 1] if index + 1 < len(words) else ""
    return after != "" and (
        after in words_in("reader", "things") or after in words_in("reader", "thing_heads")
    )


def _definite_label(words: Sequence[str], index: int) -> str:
    """Return what the thing is called if it is named as something the reader knows, else ""."""
    modifiers: list[str] = []
    at = index - 1
    while at >= 0 and len(modifiers) <= _MAX_MODIFIERS:
        word = words[at]
        if word in words_in("grammar", "definite") or word.endswith("'s"):
            return " ".join([*reversed(modifiers), words[index].removesuffix("'s")])
        if word in stop_words():
            return ""
        modifiers.append(word)
        at -= 1
    return ""


def _common_label(found: Sequence[Naming]) -> str:
    """Return the most telling label used at least twice, else the bare noun."""
    counts = Counter(each.label for each in found)
    repeated = [label for label, count in counts.items() if count > 1]
    if repeated:
        return max(sorted(repeated), key=lambda label: (len(label.split()), counts[label]))
    return min((each.label.split()[-1] for each in found), key=len)
