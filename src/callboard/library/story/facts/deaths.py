"""Deaths: the many ways a sentence says that somebody is dead, and what only sounds like it.

The ways are lines of `deaths.yaml`; here stands only where in a clause the dead may be found.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from callboard.library.story.facts.claims import Attribute, FoundClaim, KinOf, Value
from callboard.library.story.facts.grammar import ENTITY, SUBJECT, Masked, alternatives, named_by
from callboard.library.story.facts.holders import subject_of
from callboard.library.story.lexicon import phrases_in, words_in

_DEAD: Final = Value("dead", frozenset({"dead"}))
_APPOSITION: Final = r"(?:, (?:[a-z’'-]+ ?){1,7},|,(?= had| was))?"
_ADVERB: Final = r"(?: [a-z]+ly| then| too| also| still| already| finally| at last| both| simply)?"
_HAD: Final = r"(?:had |has |['’]d |['’]s )?"
# "The night Kael died", "before she died": a clause that dates something else may look ahead.
_DATING: Final = re.compile(
    r"\b(?:when|before(?! (?:mid|dawn|noon|morning|long|the (?:day|night|week|year|morning)))|after"
    r"|until|till|since|once|if|because|how|why|where|whether|as|would|might|could"
    r"|(?<!in )(?<!on )(?<!during )(?:the|that) (?:day|night|morning|evening|hour|moment|time|week"
    r"|month|year|summer|winter"
    r"|spring|autumn|fall))\b[^,;:—]*$",
    re.IGNORECASE,
)
# A death may be told by what did not happen.
_NO: Final = re.compile(r"\b(?:not|never|no)\b|n[’']t\b")
_KIN_DIED: Final = re.compile(r"\b(?:died|was killed|was drowned|drowned|perished)\b")
_POOR: Final = r"(?:little |old |poor |young |away |the late |her |his |Mr\. |Captain )?"
_NOT_ALIVE: Final = re.compile(
    r"^(?: in (?:paper|work|kisses|a (?:book|play|film)|the [a-z]+ act)| alive| with (?:an?|his|her"
    r"|one) (?:look|glance|stare|smile|word)|['’]s (?:lie|hopes?|chance|appetite|mood|time)"
    r"|,? (?:to all (?:appearances?|intents)|in a manner of speaking|so to speak|to every ?thing))"
)
# "An earlier Sir Walter had died": somebody else of that name.
_NAMESAKE: Final = re.compile(
    r"\b(?:an earlier|another|a (?:former|previous|different|second)"
    r"|the (?:first|earlier|other|former|previous)) $",
    re.IGNORECASE,
)


def find_deaths(masked: Masked) -> Iterator[FoundClaim]:
    """Yield who a sentence tells to be dead."""
    if not _trigger().search(masked.text):
        return
    for pattern, is_clause in _patterns():
        for match in pattern.finditer(masked.text):
            who = named_by(masked, match)
            if who is None or (is_clause and _DATING.search(masked.text[: match.start()])):
                continue
            if _NOT_ALIVE.match(masked.text[match.end() :]):
                continue
            if _NAMESAKE.search(masked.text[: match.start()]):
                continue
            yield _found(who, match.start(), match.end(), match[0])
    yield from _kin(masked)


def _found(who: int | str | KinOf, start: int, end: int, told: str) -> FoundClaim:
    # What had happened before may be told before a scene that goes back there.
    is_past = re.search(r"\b(?:had|has)\b", told)
    return FoundClaim(
        Attribute.DEATH,
        _DEAD,
        who,
        start,
        end,
        confidence=0.5 if is_past else 0.9,
        says_no=bool(_NO.search(told.lower())),
    )


def _kin(masked: Masked) -> Iterator[FoundClaim]:
    """Read "her mother had died": the dead who go by their kin."""
    for match in _KIN_DIED.finditer(masked.text):
        holder = subject_of(masked, match.start())
        if holder is not None and isinstance(holder.who, KinOf):
            between = masked.text[holder.at : match.start()]
            if len(between) < 40 and not _DATING.search(masked.text[: holder.at]):
                yield _found(holder.who, holder.at, match.end(), between)
    for match in _lost().finditer(masked.text):
        holder = subject_of(masked, match.start())
        if holder is not None and isinstance(holder.who, int | str):
            who = KinOf(holder.who, holder.at, match["kin"])
            yield _found(who, match.start(), match.end(), "had")


@cache
def _lost() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:lost|buried|outlived|mourned) (?:his|her|my) (?P<kin>wife|husband|father|mother|son"
        r"|daughter|brother|sister)\b(?= (?:to|in|at|last|when|years|that|long|early|young)\b"
        r"|[.,;])"
    )


@cache
def _trigger() -> re.Pattern[str]:
    stems = {
        re.split(r"[ ~]", phrase.replace("~ ", ""))[-1][:5]
        for group in ("dies", "was", "kills", "has")
        for phrase in phrases_in("deaths", group)
    }
    listed = "|".join(re.escape(stem) for stem in sorted(stems))
    return re.compile(
        rf"\b(?:{listed}|dead|death|late|lost|took|taken|heart|kidney|pulse|kaddish|claimed|found"
        r"|end of)"
    )


def _listed(group: str) -> str:
    phrases = sorted(phrases_in("deaths", group), key=lambda phrase: (-len(phrase), phrase))
    escaped = (re.escape(phrase).replace(r"\~", "~").replace("'", "['’]") for phrase in phrases)
    return "|".join(phrase.replace("~", r"(?:his|her|my)") for phrase in escaped)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], bool], ...]:
    not_dead = alternatives(_figures("dead_figures"))
    not_died = alternatives(_figures("died_figures"))
    plays = r"(?! in (?:the [a-z]+ |[a-z]+ )?(?:act|scene|play|book|film|dream)\b)"
    subject = rf"{SUBJECT}{_APPOSITION}{_ADVERB}"
    name = rf"(?P<who>{ENTITY})(?!['’])"
    was = r"(?:was|were|had been|has been|is|lay|lies|fell|['’]s)"
    clauses = (
        rf"{subject} {_HAD}{_ADVERB.lstrip()}(?:{_listed('dies')}"
        rf"|dies)\b(?! (?:{not_died})\b){plays}"
        r"(?! the (?:afternoon|evening|morning|time|day))",
        rf"{subject} {was}{_ADVERB} (?:{_listed('was')})\b(?!-)(?! (?:{not_dead}"
        rf"|{not_died})\b){plays}"
        r"(?! in (?:paper|work|kisses|the (?:shoulder|arm|leg|foot|hand)))",
        rf"{SUBJECT} [a-z][^.;:!?—{ENTITY[1:-1]}]{{2,80}}? and (?:then |so |at last |had )?"
        r"(?:died(?=[.,;]| (?:there|in|of|at|on|within|before|that|the))"
        r"|was dead\b(?! (?:tired|to|on))|never came (?:up|back)\b)",
        rf"(?P<who>{ENTITY})['’]s dead\b(?! (?:{not_dead}|[a-z]+s)\b)",
        rf"(?P<who>{ENTITY})['’]s? (?:heart|kidneys|lungs|pulse|breathing) (?:had )?(?:simply )?"
        r"(?:stopped|gave out|given out|gave way|failed)\b",
        rf"{subject} {_HAD}(?:fell|fallen) (?:at|before) (?:[A-Z]\w+|{ENTITY})",
        rf"{subject} had been dead(?: (?:for|since|these|[a-z]+ (?:years|months|weeks|days)))\b",
    )
    others = (
        rf"\b{_HAD}(?:{_listed('kills')}) {_POOR}{name}",
        rf"\b(?:[Ww]e|I|[Tt]hey|[Hh]e|[Ss]he) (?:had )?lost {_POOR}{name}"
        r"(?= (?:to|last|that|in the (?:war|fire|flood|spring|summer|autumn|winter))\b|[.;]|$)",
        rf"\b(?i:{_words('slayers')}) (?:had )?(?:{_words('takes')}) {_POOR}{name}",
        rf"(?P<who>{ENTITY})['’]s? (?:{_listed('has')})\b(?! (?:of|for) (?!the )[a-z])",
        rf"(?P<who>{ENTITY})['’]s? body (?:was|lay|had been)\b",
        rf"\b(?:pulled|dragged|lifted|found|buried|identified"
        rf"|carried) (?P<who>{ENTITY})['’]s? body\b",
        rf"\b(?:[Ss]ince|[Aa]fter|[Oo]f) (?P<who>{ENTITY})['’]s? (?:death|murder|drowning"
        rf"|suicide)\b",
        rf"(?P<who>{ENTITY})['’]s? (?:death|murder|name) (?:had|was|left|came"
        rf"|is on the memorial)\b",
        rf"\b(?:{_listed('of')}) of (?:the )?{_POOR}(?:late )?{name}",
        rf"\b[Tt]he late (?:lamented )?{_POOR}{name}",
        rf"\b(?:[Aa]mong|[Aa]mongst) the (?:dead|victims|drowned|fallen|slain) (?:was|were|is)"
        rf"(?: (?:the|a|an|his|her) [a-z -]{{2,30}},?)? {name}",
        rf"\b(?:murdered|dead|drowned|hanged|slain) (?:man|woman|boy|girl) (?:was|is)"
        rf"(?: one| called| named)? {name}",
        rf"\b(?:pronounced|found|left|shot|declared|struck) {name} dead\b",
        rf"\bfound {name} [^.;:!?]{{0,40}}\bdead\b",
        rf"\b(?:laid|lowered|put) {_POOR}{name} (?:to rest|in the (?:ground|earth)|into the grave)",
        rf"\bdrew the sheet over (?P<who>{ENTITY})['’]s? face",
        rf"\b(?:stray )?(?:bullet|shot|shell|arrow|spear) (?:had )?found {_POOR}{name}",
        rf"\b(?:that was|that[’']s|it was) the end of {name}",
        rf"\b(?:kaddish|requiem|last rites|funeral mass|wake) (?:for|of) {name}",
        rf"\b(?:identify|identified) {name} (?:in|at) the (?:mortuary|morgue)\b",
        rf"\bthere was no more {_POOR}{name}",
        rf"\bobituary gave {_POOR}{name}",
        rf"\bheadstone said only {name}",
    )
    return (
        *((re.compile(shape), True) for shape in clauses),
        *((re.compile(shape), False) for shape in others),
    )


def _words(group: str) -> str:
    return alternatives(frozenset(word.replace("_", " ") for word in words_in("deaths", group)))


def _figures(group: str) -> frozenset[str]:
    return frozenset(word.replace("_", " ") for word in words_in("facts", group))
