"""Skills: what somebody can or cannot do, and what somebody is by calling."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from callboard.library.story.facts.claims import Attribute, FoundClaim, Value
from callboard.library.story.facts.grammar import ENTITY, SUBJECT, Masked, alternatives, named_by
from callboard.library.story.lexicon import families_in

CAN: Final = Value("can", frozenset({"can"}))
CANNOT: Final = Value("cannot", frozenset({"cannot"}))
# What shows a skill, after the person's name, and the verb that names it.
_SHOWN: Final[Mapping[str, str]] = {
    "drive": r"(?:drove (?:the|her|his|my|us|them|off|away|home|back)|drives\b|parked the"
    r"|(?:backed|took|brought|swung) the (?:car|van|truck|lorry)|took the wheel"
    r"|was driving|is driving|got behind the wheel|slid behind the wheel)",
    "swim": r"(?:swam\b|was swimming|is swimming|swims\b|dived in|struck out for)",
    "read": r"(?:read (?:the|it|her|his|aloud|out|through|every|a )|was reading|reads the"
    "|is reading)",
    "write": r"(?:wrote (?:the|it|her|his|a |back|down|to|out)|was writing|is writing)",
    "ride": r"(?:rode (?:the|her|his|off|away|out|home|up|a )|was riding|mounted (?:the|her"
    "|his) (?:horse|mare))",
    "cook": r"(?:cooked\b|was cooking|is cooking|cooks\b)",
    "sing": r"(?:sang\b|was singing|is singing|sings\b)",
    "dance": r"(?:danced\b|was dancing|is dancing)",
    "sew": r"(?:sewed\b|was sewing|stitched (?:the|her|his|a ))",
    "whistle": r"(?:whistled\b|was whistling)",
    "play": r"(?:played (?:the|a) (?:piano|violin|cello|guitar|flute|harp|organ|fiddle|sonata"
    "|waltz)"
    r"|sat down (?:to|at) the (?:piano|pianoforte|instrument|harp))",
    "smoke": r"(?:lit (?:a|another|his|her) (?:cigarette|cigar|pipe)|smoked (?:a|his|her|the)"
    "|was smoking)",
    "drink": r"(?:drank (?:the|a|her|his|off) (?:whisky|whiskey|wine|beer|gin|rum|brandy|pint"
    "|glass of (?:wine|beer)))",
    "eat meat": r"(?:ate (?:the|a|her|his) (?:steak|beef|chop|bacon|ham|chicken|lamb|sausage)s?)",
}
_NAMED: Final[Mapping[str, str]] = {
    "drive": r"drive(?: a car)?",
    "swim": r"swim(?: a stroke)?",
    "read": r"read(?: or write| nor write| a word| and write)?",
    "write": r"write(?: (?:his|her) (?:own )?name| a word)?",
    "ride": r"ride(?: a horse)?",
    "cook": r"cook",
    "sing": r"sing(?: a note)?",
    "dance": r"dance",
    "sew": r"sew",
    "whistle": r"whistle",
    "play": r"play(?: (?:the|a) [a-z]+| a note)",
    "smoke": r"smoke",
    "drink": r"drink",
    "eat meat": r"eat meat",
}
# A clause that ends here speaks of the skill and not of one occasion.
_WHOLE: Final = r"(?=\s*[.,;:!?—–”\"]|$| (?:and|but|at all|in (?:his|her|my) life|to save)\b)"
_NEVER: Final = (
    r"(?:(?:had |has |have |’d |'d )?never (?:learned|learnt|been taught) (?:how )?to"
    r"|could not|couldn[’']t|cannot|can[’']t|can not|(?:did|does|do) not know how to"
    r"|(?:didn|doesn|don)[’']t know how to|was unable to|is unable to|never (?:could|did)"
    r"|(?:did|does|do) not|(?:didn|doesn|don)[’']t)"
)
# These are a habit and not a skill: "does not smoke", but "could not" is one occasion.
_HABITS: Final = frozenset({"smoke", "drink", "eat meat"})
_FLAT: Final = re.compile(r"(?:did|does|do) not$|(?:didn|doesn|don)[’']t$")
_SIGNS: Final = ENTITY[1:-1]
# What somebody did for a living all their life, and the calling it is.
_DONE: Final = {"nursed": "nurse", "taught": "teacher", "farmed": "farmer", "preached": "preacher"}
_LIVED_BY: Final = re.compile(
    rf"{SUBJECT} (?:had )?(?P<done>{'|'.join(_DONE)}) (?:at|in) (?:the|a|an|[A-Z])[^.;]{{0,40}}? "
    r"(?:for (?:the whole|most|all) of (?:his|her) (?:working )?life|for \w+ years|all (?:his"
    r"|her) life)"
)
_TRIGGER: Final = re.compile(
    r"\b(?:learn|taught|could|can|cannot|know how|unable|never|illiterate|licen[cs]e|vegetarian"
    r"|teetotal|not|n[’']t)",
)


def find_skills(masked: Masked) -> Iterator[FoundClaim]:
    """Yield what a sentence says somebody can or cannot do."""
    text = masked.text
    if _TRIGGER.search(text) or "n't" in text or "n’t" in text:
        for topic, pattern in _lacking():
            for match in pattern.finditer(text):
                if (found := _found(masked, match, topic, CANNOT)) is not None:
                    yield found
    if not _shown_trigger().search(text):
        return
    for topic, pattern in _showing():
        for match in pattern.finditer(text):
            who = named_by(masked, match)
            if who is not None:
                yield FoundClaim(Attribute.SKILL, CAN, who, match.start(), match.end(), topic=topic)


def _found(masked: Masked, match: re.Match[str], topic: str, value: Value) -> FoundClaim | None:
    who = named_by(masked, match)
    how = match.groupdict().get("how") or ""
    if who is None or (_FLAT.search(how) is None) == (topic in _HABITS and bool(how)):
        return None
    return FoundClaim(
        Attribute.SKILL, value, who, match.start(), match.end(), topic=topic, says_no=True
    )


@cache
def _lacking() -> tuple[tuple[str, re.Pattern[str]], ...]:
    plain = [
        (topic, re.compile(rf"{SUBJECT},?(?: who)? (?P<how>{_NEVER}) {verb}{_WHOLE}"))
        for topic, verb in _NAMED.items()
    ]
    extra = (
        (
            "drive",
            rf"{SUBJECT} (?:had |has )?never (?:held|had) a (?:driving|driver[’']s) licen[cs]e",
        ),
        ("read", rf"{SUBJECT} (?:was|is) illiterate\b"),
        ("play", rf"{SUBJECT},?(?: who)? had never touched an instrument\b"),
        ("eat meat", rf"{SUBJECT} (?:was|is) a (?:strict )?(?:vegetarian|vegan)\b"),
        ("drink", rf"{SUBJECT} (?:was|is) (?:a )?teetotal(?:ler)?\b"),
        ("smoke", rf"{SUBJECT} (?:had |has )?never smoked\b"),
        ("drink", rf"{SUBJECT} (?:had |has )?never touched (?:a drop|alcohol|drink)\b"),
        ("swim", rf"{SUBJECT} (?:was|is) no swimmer\b"),
    )
    return (*plain, *((topic, re.compile(shape)) for topic, shape in extra))


@cache
def _showing() -> tuple[tuple[str, re.Pattern[str]], ...]:
    plain = [
        (topic, re.compile(rf"(?:it was )?{SUBJECT}(?: who)?(?: [a-z]+ly| had)? {verb}"))
        for topic, verb in _SHOWN.items()
    ]
    wheel = (
        rf"{SUBJECT} (?:take|took|drive|drove|steer|steered|sat|sit)\b[^.;{_SIGNS}]{{0,80}}?"
        r" (?:at|behind) the wheel"
    )
    return (*plain, ("drive", re.compile(wheel)))


@cache
def _shown_trigger() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(_SHOWN.values())}|the wheel)")


def card_skills(text: str) -> Iterator[tuple[str, Value]]:
    """Yield the skills a line of a card denies, whose subject is the card's own."""
    lowered = text.lower()
    for topic, verb in _NAMED.items():
        if re.search(rf"\b(?:cannot|can[’']t|never learne?[dt]? to|unable to) {verb}\b", lowered):
            yield topic, CANNOT
    if re.search(
        r"\bnever held a driv(?:ing|er[’']s) licen[cs]e|\bdoes(?: not|n[’']t) drive\b", lowered
    ):
        yield "drive", CANNOT


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
    if not _calling_trigger().search(masked.text):
        return
    for pattern in _calling_patterns():
        for match in pattern.finditer(masked.text):
            who, value = named_by(masked, match), calling_value(match["calling"])
            if who is not None and value is not None:
                yield FoundClaim(
                    Attribute.CALLING, value, who, match.start(), match.end(), None, 0.8
                )


def _callings() -> Mapping[str, frozenset[str]]:
    return families_in("facts", "callings")


def _calling_words() -> str:
    return alternatives(frozenset[str]().union(*_callings().values()))


@cache
def _calling_trigger() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{_calling_words()})\b")


@cache
def _calling_patterns() -> tuple[re.Pattern[str], ...]:
    calling = rf"(?P<calling>{_calling_words()})"
    ends = r"(?=[.,;:!?]|$| (?:in|at|by|of|and|but|who|with|for|from|on)\b)"
    adjective = (
        r"(?:(?:retired|country|village|young|old|good|poor|humble|busy|skilled|fine|family) )?"
    )
    who = rf"(?P<who>{ENTITY})(?!['’])"
    return (
        re.compile(rf"{SUBJECT} (?:was|is|am) (?:an? ){adjective}{calling}{ends}"),
        re.compile(rf"{SUBJECT} (?:was|is|am) (?:an? ){calling} by (?:trade|profession|calling)"),
        re.compile(rf"{who}, (?:an? |the ){adjective}{calling}{ends}"),
        re.compile(rf"{SUBJECT} (?:worked|works) as an? {adjective}{calling}{ends}"),
    )
