"""Slips: a person who is once called by another name, and a thing that is used after its loss."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from callboard.library.story.facts.things import Thing, is_loss, is_return, is_use, things_in
from callboard.library.story.index.names import are_short_forms, given_gender
from callboard.library.story.lexicon import families_in
from callboard.library.story.model import Quote, Severity, StoryFinding
from callboard.library.story.text import Document, Sentence
from callboard.library.story.tools.consistency.timeline import CheckedScene
from callboard.library.story.tools.report import make_finding

TOOL: Final = "consistency_checker"
_RARE: Final = 2
_KNOWN: Final = 4
_FEWEST_LETTERS: Final = 5
_LONG_LETTERS: Final = 8
_ALIKE: Final = 0.7
_RATHER_ALIKE: Final = 0.5
_SAME_LETTERS: Final = 3
_OTHERS: Final = re.compile(
    r"\b(?:another|cousin|brother|sister|aunt|uncle|nephew|niece|son|daughter|father|mother"
    r"|wife|husband"
    r"|relation|namesake|grandfather|grandmother|née|born|formerly|named|baby|infant|elder"
    r"|younger)\b",
    re.IGNORECASE,
)
_SPELT: Final = re.compile(
    r"(?P<titles>(?:(?:Mrs?|Ms|Miss|Dr|Sir|Lady|Captain|Colonel|Major|General|Lieutenant"
    r"|Admiral|Sergeant"
    r"|Inspector|Professor|Judge|Reverend|Detective|Commander|Commodore|Corporal|Constable|Superintendent"
    r"|Lord|Dame|Father|Sister|Brother|Aunt|Uncle|Nurse|Chief|Doctor|Bishop|Widow)\.? )*)"
    r"(?P<words>[A-Z][a-z’']+(?:-[A-Z]?[a-z]+)*(?: [A-Z][a-z’']+(?:-[A-Z]?[a-z]+)*){0,3})"
)


@dataclass(frozen=True, slots=True)
class _NameForm:
    """One way somebody is called, and where for the first time."""

    title: str
    given: str
    family: str
    quote: Quote
    sentence: str
    is_spoken: bool


def find_name_slips(
    scenes: Sequence[CheckedScene], carded: Sequence[str]
) -> Iterator[StoryFinding]:
    """Yield where a known person is called by a name that occurs nowhere else."""
    documents = [scene.document for scene in scenes if scene.document.is_english]
    census = _Census(documents, carded)
    for form in census.rare():
        found = census.meant_by(form)
        if found is not None:
            meant, quote = found
            shown = " ".join(filter(None, (form.title, form.given, form.family)))
            yield make_finding(
                TOOL,
                "Character",
                Severity.MINOR,
                f"“{shown}” occurs only here; elsewhere it is {meant}.",
                (form.quote, quote),
                suggestion=f"Write {meant}, or say who {shown} is.",
                confidence=0.7,
            )


class _Census:
    """Every titled or full name of a book, with its places."""

    def __init__(self, documents: Sequence[Document], carded: Sequence[str]) -> None:
        # Who has a card is known, however seldom the story says the name.
        self._words: Counter[str] = Counter(
            word for name in carded for word in name.split() for _ in range(_KNOWN)
        )
        self._here: dict[str, frozenset[str]] = {}
        self._forms: Counter[tuple[str, str, str]] = Counter()
        self._first: dict[tuple[str, str, str], _NameForm] = {}
        for document in documents:
            words = re.findall(
                r"\b[A-Z][a-z’']+(?:-[A-Z]?[a-z]+)*", re.sub(r"['’]s\b", "", document.prose)
            )
            self._words.update(words)
            self._here[document.file_path] = frozenset(words)
            for sentence in document.sentences:
                self._take(document, sentence)

    def _take(self, document: Document, sentence: Sentence) -> None:
        for match in _SPELT.finditer(sentence.text):
            words = re.sub(r"['’]s?$", "", match["words"]).split()
            title = match["titles"].strip()
            if len(words) == 1 and not title:
                continue
            given, family = (words[-2], words[-1]) if len(words) > 1 else ("", words[0])
            if given and not title and given_gender(given) is None:
                continue
            key = (title, given, family)
            self._forms[key] += 1
            if key not in self._first:
                quote = document.quote(sentence)
                self._first[key] = _NameForm(
                    title, given, family, quote, sentence.text, sentence.has_dialogue
                )

    def rare(self) -> Iterator[_NameForm]:
        """Yield the names that occur once or twice in all, where nothing explains them."""
        for key, form in self._first.items():
            if self._forms[key] <= _RARE and not _OTHERS.search(form.sentence):
                yield form

    def meant_by(self, form: _NameForm) -> tuple[str, Quote] | None:
        """Return whom a rare name must mean, and where they are called rightly."""
        if form.given and self._words[form.given] <= _RARE:
            if self._words[form.family] > 1:
                return self._other_given(form)
            return self._other_family(form) if self._words[form.given] == 1 else None
        if not form.given and form.title and self._words[form.family] == 1:
            return self._other_family(form)
        if not form.given and _rank_of(form.title) and not form.is_spoken:
            return self._other_rank(form)
        return None

    def _other_given(self, form: _NameForm) -> tuple[str, Quote] | None:
        found: dict[str, _NameForm] = {}
        for key, other in self._first.items():
            title, given, family = key
            if family != form.family or not given or given == form.given:
                continue
            if self._words[given] <= _RARE or are_short_forms(given, form.given):
                continue
            if not _may_be_one(given, form.given) or _is_related(other):
                continue
            same_title = bool(title) and title == form.title and title in ("Sir", "Lady")
            alike = SequenceMatcher(None, given.lower(), form.given.lower()).ratio() >= _ALIKE
            if given[0] == form.given[0] or same_title or alike:
                found.setdefault(given, other)
        if not found:
            return self._other_than_title(form)
        if len(found) != 1:
            return None
        ((given, other),) = found.items()
        return f"{given} {form.family}", other.quote

    def _other_than_title(self, form: _NameForm) -> tuple[str, Quote] | None:
        """Return who goes by a title and a family name that a stray first name stands between."""
        key = (form.title, "", form.family)
        if not form.title or self._words[form.given] > 1 or self._forms[key] < 2 * _KNOWN:
            return None
        others = {given for _, given, family in self._first if family == form.family and given}
        if others - {form.given} and form.title not in ("Mrs.", "Mrs", "Miss"):
            return None
        return f"{form.title} {form.family}", self._first[key].quote

    def _other_family(self, form: _NameForm) -> tuple[str, Quote] | None:
        """Return somebody of the same title who is about and whose name is nearly the same."""
        if len(form.family) < _FEWEST_LETTERS:
            return None
        here = self._here[form.quote.path]
        shown = f"{form.given} {form.family}".strip().lower()
        for key, other in self._first.items():
            title, given, family = key
            if family == form.family or not _same_title(title, form.title):
                continue
            # A plural or a possessive is the same name.
            if form.family.rstrip("s") == family.rstrip("s"):
                continue
            is_one_off = _edits(family, form.family) == 1 and family[0] == form.family[0]
            if not is_one_off and family not in here:
                continue
            least = _RARE if is_one_off or len(family) >= _LONG_LETTERS else _KNOWN
            if self._words[family] < least:
                continue
            full = f"{given} {family}".lower() if form.given else family.lower()
            alike = SequenceMatcher(None, full, shown).ratio()
            is_alike = alike >= (_ALIKE if form.given else _RATHER_ALIKE)
            if is_one_off or (is_alike and family[:_SAME_LETTERS] == form.family[:_SAME_LETTERS]):
                return f"{title} {family}", other.quote
            if form.given and given and is_alike and family[0] == form.family[0]:
                return f"{given} {family}", other.quote
        return None

    def _other_rank(self, form: _NameForm) -> tuple[str, Quote] | None:
        held = [
            (key, times)
            for key, times in self._forms.items()
            if key[2] == form.family and not key[1] and key[0] != form.title
        ]
        others = [(key, times) for key, times in held if not key[0].startswith(("Mrs", "Miss"))]
        if len(others) != 1 or self._forms[form.title, "", form.family] > 1:
            return None
        ((key, times),) = others
        if times < _KNOWN or form.family not in self._here[form.quote.path]:
            return None
        if key[0] not in ("Mr.", "Mr") and not _rank_of(key[0]):
            return None
        return f"{key[0]} {form.family}", self._first[key].quote


def _same_title(one: str, other: str) -> bool:
    return one.rstrip(".") == other.rstrip(".") and bool(one)


def _may_be_one(one: str, other: str) -> bool:
    """Say whether two given names may be one person's, as far as their gender goes."""
    genders = {given_gender(one), given_gender(other)} - {None}
    return len(genders) <= 1


def _is_related(form: _NameForm) -> bool:
    """Say whether somebody comes in as a relative: "his cousin, Walter Lucas"."""
    kin = r"(?:cousin|brother|sister|aunt|uncle|nephew|niece|another)"
    return re.search(rf"\b{kin},? {form.given} {form.family}\b", form.sentence) is not None


def _rank_of(title: str) -> str:
    ranks = frozenset[str]().union(
        *(families_in("facts", "ranks")[each] for each in ("army", "navy"))
    )
    return next((word for word in title.lower().split() if word in ranks), "")


def _edits(one: str, other: str) -> int:
    """Count the letters two words differ by, up to two."""
    if abs(len(one) - len(other)) > 1:
        return 2
    if len(one) == len(other):
        return min(2, sum(a != b for a, b in zip(one, other, strict=True)))
    short, long = sorted((one, other), key=len)
    return 1 if any(long[:at] + long[at + 1 :] == short for at in range(len(long))) else 2


@dataclass(slots=True)
class _Loss:
    thing: Thing
    scene: CheckedScene
    quote: Quote
    text: str


def find_lost_things(scenes: Sequence[CheckedScene]) -> Iterator[StoryFinding]:
    """Yield the things that are told to be gone and are used in a later place."""
    lost: dict[tuple[str, str], _Loss] = {}
    for scene in scenes:
        if not scene.document.is_english or scene.is_flashback:
            continue
        for sentence in scene.document.sentences:
            text = sentence.narration
            for thing in things_in(text):
                key = (thing.kind, thing.mark)
                if key in lost and text != lost[key].text:
                    if is_return(text, thing):
                        del lost[key]
                    elif lost[key].scene is not scene and is_use(text, thing):
                        yield _used(lost.pop(key), scene, sentence)
                elif thing.mark and is_loss(text, thing):
                    quote = scene.document.quote(sentence)
                    lost[key] = _Loss(thing, scene, quote, text)


def _used(loss: _Loss, scene: CheckedScene, sentence: Sentence) -> StoryFinding:
    mark = "narrator's" if loss.thing.mark == "my" else loss.thing.mark
    name = f"{mark} {loss.thing.kind}"
    return make_finding(
        TOOL,
        "Character",
        Severity.MINOR,
        f"The {name} is gone in {loss.scene.file.title} and in use in {scene.file.title}.",
        (loss.quote, scene.document.quote(sentence)),
        suggestion=f"Tell how the {name} came back, or use another.",
        confidence=0.7,
    )
