"""Skills: what somebody can or cannot do, and what somebody is by calling."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from callboard.library.story.facts.claims import Attribute, FoundClaim, Value
from callboard.library.story.facts.grammar import ENTITY, SUBJECT, Masked, alternatives, named_by
from callboard.library.story.facts.holders import Holder, is_told, named_before, subject_of
from callboard.library.story.lexicon import families_in

CAN: Final = Value("can", frozenset({"can"}))
CANNOT: Final = Value("cannot", frozenset({"cannot"}))
# A clause that ends here speaks of the skill and not of one occasion.
_WHOLE: Final = (
    r"(?=\s*[.,;:!?—–”\"]|$| (?:and|but|at all|in (?:his|her|my) life|to save|so much as"
    r"|either|properly|well)\b)"
)
_NEVER: Final = (
    r"(?:\b(?:never|not|n['’]t)(?: once| yet)? (?:learned|learnt|been taught|been able)(?: how)? to"
    r"|\bcould not|\bcouldn[’']t|cannot|can[’']t|can not|(?:did|does|do) not know how to"
    r"|(?:didn|doesn|don)[’']t know how to|was unable to|is unable to|never (?:could|did)"
    r"|(?:did|does|do) not|(?:didn|doesn|don)[’']t)"
)
_OWN_WORDS: Final = frozenset(
    {"other", "called", "play", "played", "look", "looked", "think", "part"}
)
_WHEEL: Final = re.compile(
    r"(?P<at>\b(?:take|took|drive|drove|steer|steered|sat|sit|takes|drives|backed|slid|got)\b"
    r"[^.;]{0,80}? (?:at|behind|on) the wheel\b)"
)
_READS: Final = re.compile(
    r"\b(?:deep|lost|buried|absorbed) in an? (?:book|newspaper|novel|paper)\b"
)
# These are a habit and not a skill: "does not smoke", but "could not" is one occasion.
_HABITS: Final = frozenset({"smoke", "drink", "eat meat"})
_FLAT: Final = re.compile(r"(?:did|does|do) not$|(?:didn|doesn|don)[’']t$")
# What somebody did for a living all their life, and the calling it is.
_DONE: Final = {"nursed": "nurse", "taught": "teacher", "farmed": "farmer", "preached": "preacher"}
_LIVED_BY: Final = re.compile(
    rf"{SUBJECT} (?:had )?(?P<done>{'|'.join(_DONE)}) (?:at|in) (?:the|a|an|[A-Z])[^.;]{{0,40}}? "
    r"(?:for (?:the whole|most|all) of (?:his|her) (?:working )?life|for \w+ years|all (?:his"
    r"|her) life)"
)
_ALL_LIFE: Final = re.compile(
    r" (?:all (?:his|her|my) life|for [a-z-]+ years|from (?:a boy|a girl))\b"
)
_TRIGGER: Final = re.compile(
    r"\b(?:learn|taught|could|can|cannot|know how|unable|never|no|first time|able|not"
    r"|one end|ear|music)\b|n[’']t\b",
)
_TELLS_WHAT: Final = re.compile(r"\b(?:was|is|made|left|rendered)\b|, an? ")
_PLAIN_WORD: Final = re.compile(r"[a-z]+")
_DOES: Final = re.compile(
    r"(?:['’]d|['’]s)?(?:,? who)?(?: [a-z]+ly| had| has| often| always| still| only| was| is"
    r"| been)* "
)
_BARE_EAR: Final = re.compile(r"\b(?:had|has|have) no (?:ear|music)\b")
_LEFT: Final = (
    r"\b(?:made|left|rendered) (?P<whom>him|her)(?: for [a-z ]{2,20}?| quite| nearly)? (?:a |an )?"
)


def find_skills(masked: Masked) -> Iterator[FoundClaim]:
    """Yield what a sentence says somebody can or cannot do."""
    text = masked.text
    if _TRIGGER.search(text):
        yield from _lacking(masked)
    tells_what = _TELLS_WHAT.search(text) is not None
    for topic, pattern in _unable() if tells_what else ():
        for match in pattern.finditer(text):
            at = match.start("whom") if match["whom"] else None
            holder = (
                Holder(match["whom"], at) if at is not None else named_before(masked, match.start())
            )
            yield from _claim(masked, match, holder, (topic, CANNOT))
    yield from _shown(masked, tells_what=tells_what)


def _claim(
    masked: Masked, match: re.Match[str], holder: Holder | None, told: tuple[str, Value]
) -> Iterator[FoundClaim]:
    topic, value = told
    if holder is None or not is_told(
        masked.text, match.start(), match.end(), allows=_OWN_WORDS, says_no=value is CANNOT
    ):
        return
    yield FoundClaim(
        Attribute.SKILL,
        value,
        holder.who,
        min(holder.at, match.start()),
        match.end(),
        topic=topic,
        who_at=holder.at,
        is_vouched=True,
    )


def _lacking(masked: Masked) -> Iterator[FoundClaim]:
    text = masked.text
    for topic, pattern in _named():
        for match in pattern.finditer(text):
            # A habit is denied flatly ("does not smoke"), a skill is not: that is one occasion.
            if (_FLAT.search(match["how"]) is not None) == (topic in _HABITS):
                yield from _claim(masked, match, subject_of(masked, match.start()), (topic, CANNOT))
    for topic, pattern in _untouched():
        for match in pattern.finditer(text):
            holder = subject_of(masked, match.start()) or _behind(masked, match)
            yield from _claim(masked, match, holder, (topic, CANNOT))
    for match in _BARE_EAR.finditer(text):
        yield from _claim(masked, match, subject_of(masked, match.start()), ("play", CANNOT))


def _behind(masked: Masked, match: re.Match[str]) -> Holder | None:
    """Return the subject inside the words themselves: "the first time that she had ever held"."""
    told = match.groupdict().get("inside")
    return Holder(told.lower(), match.start("inside")) if told else None


def _shown(masked: Masked, *, tells_what: bool) -> Iterator[FoundClaim]:
    text = masked.text
    is_shown = not _showing_words().isdisjoint(_PLAIN_WORD.findall(text))
    for match in _showing().finditer(text) if is_shown else ():
        holder = _right_before(masked, match.start("verb"))
        if holder is None:
            continue
        verb = re.sub(r"\s+", " ", match["verb"].lower())
        for topic in _shown_topics()[verb]:
            yield from _claim(masked, match, holder, (topic, CAN))
    for match in _WHEEL.finditer(text):
        yield from _claim(masked, match, subject_of(masked, match.start("at")), ("drive", CAN))
    for match in _READS.finditer(text):
        yield from _claim(masked, match, subject_of(masked, match.start()), ("read", CAN))
    for topic, pattern in _agents() if tells_what else ():
        for match in pattern.finditer(text):
            if match["whom"]:
                holder: Holder | None = Holder(match["whom"], match.start("whom"))
            else:
                holder = named_before(masked, match.start())
            yield from _claim(masked, match, holder, (topic, CAN))


def _right_before(masked: Masked, place: int) -> Holder | None:
    holder = named_before(masked, place, _DOES)
    if holder is not None:
        return holder
    joined = re.search(r"\band(?: then)? $", masked.text[max(0, place - 10) : place])
    found = subject_of(masked, place) if joined else None
    return found if found and place - found.at < 60 else None


@cache
def _named() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (topic, re.compile(rf"(?P<how>{_NEVER}) (?:{alternatives(verbs)}){_WHOLE}"))
        for topic, verbs in families_in("skills", "named").items()
    )


@cache
def _untouched() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (
            topic,
            re.compile(
                r"(?:\b(?:never|not once) (?:held|touched|had|handled|laid (?:a hand|hands) on"
                r"|had (?:his|her|my) hands? on|been taught|learned|learnt|opened|sat (?:at|on)"
                r"|picked up|played)"
                r"|\bfirst time (?:that )?(?P<inside>he|she|I) had ever (?:held|touched|handled)"
                r"|\bdid(?: not|n['’]t) know one end of|\b(?:had|has) no)"
                rf"(?: an?| the| so much as an?)? (?:[a-z]+ )?(?:{alternatives(nouns)})\b"
            ),
        )
        for topic, nouns in families_in("skills", "tools").items()
    )


@cache
def _unable() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (
            topic,
            re.compile(
                rf"(?:{_LEFT}|(?<=\bwas )(?:quite |an? )?|(?<=\bis )(?:quite |an? )?|(?<=, )an? )"
                rf"(?:{alternatives(words)})\b(?! (?:in|to|as|animal|with)\b)(?!-)"
            ),
        )
        for topic, words in families_in("skills", "unable").items()
    )


@cache
def _agents() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (
            topic,
            re.compile(
                rf"(?:\bmade an? (?P<made>{alternatives(words)}) of (?P<whom>him|her)\b"
                rf"|(?<=\bwas )an? (?:[a-z]+ )?(?:{alternatives(words)})\b)"
            ),
        )
        for topic, words in families_in("skills", "agents").items()
    )


@cache
def _shown_topics() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for topic, phrases in families_in("skills", "shown").items():
        for phrase in phrases:
            found.setdefault(phrase, []).append(topic)
    return {phrase: tuple(topics) for phrase, topics in found.items()}


@cache
def _showing_words() -> frozenset[str]:
    return frozenset(_PLAIN_WORD.findall(phrase)[0] for phrase in _shown_topics())


@cache
def _showing() -> re.Pattern[str]:
    return re.compile(rf"\b(?P<verb>{alternatives(frozenset(_shown_topics()))})\b")


def calling_value(text: str) -> Value | None:
    """Return a calling and the kinds of work it belongs to; None for what is none."""
    lowered = text.lower()
    families = {
        family
        for family, words in _callings().items()
        for word in words
        if re.search(rf"\b{re.escape(word)}\b", lowered)
    }
    return Value(lowered.strip(), frozenset(families)) if families else None


def find_callings(masked: Masked) -> Iterator[FoundClaim]:
    """Yield what a sentence says somebody is by calling."""
    for match in _LIVED_BY.finditer(masked.text):
        who, value = named_by(masked, match), calling_value(_DONE[match["done"]])
        if who is not None and value is not None:
            yield FoundClaim(Attribute.CALLING, value, who, match.start(), match.end())
    for match in _called().finditer(masked.text):
        holder = _called_so(masked, match)
        value = calling_value(match["calling"])
        if holder is None or value is None:
            continue
        if is_told(masked.text, match.start(), match.end(), allows=_OWN_WORDS):
            yield FoundClaim(
                Attribute.CALLING,
                value,
                holder.who,
                min(holder.at, match.start()),
                match.end(),
                confidence=0.8,
                who_at=holder.at,
                is_vouched=True,
            )


def _called_so(masked: Masked, match: re.Match[str]) -> Holder | None:
    """Return who is told to be of a calling; who "had been" one may be another now."""
    text = masked.text
    holder = named_before(masked, match.start())
    if holder is not None:
        has_been = re.search(r"\bha[ds] been(?: [a-z]+)? $", text[: match.start()])
        return None if has_been and not _ALL_LIFE.match(text[match.end() :]) else holder
    if not text[: match.start()].strip():
        after = re.match(
            rf"[^.;:—]{{0,90}}?, (?:(?P<name>{ENTITY})(?!['’])|(?P<pronoun>he|she)\b)",
            text[match.end() :],
        )
        if after and after["pronoun"]:
            return Holder(after["pronoun"], match.end() + after.start("pronoun"))
        if after:
            return Holder(masked.number_at(after["name"]), match.end() + after.start("name"))
    return None


def _callings() -> Mapping[str, frozenset[str]]:
    return families_in("facts", "callings")


def _calling_words() -> str:
    return alternatives(frozenset[str]().union(*_callings().values()))


@cache
def _called() -> re.Pattern[str]:
    return re.compile(
        rf"\b(?:[Aa]n?|[Tt]he|(?<=worked as )an?) (?:(?:retired|country|village|young|old|good|poor"
        rf"|humble|busy|skilled|fine|family|[a-z]+) )?(?P<calling>{_calling_words()})"
        r"(?=[.,;:!?”]|$| (?:in|at|by|of|and|but|who|with|for|from|on|all)\b)"
    )
