"""Age words: the expressions in which English tells an age, without who is that old."""

import re
from functools import cache
from typing import Final

from callboard.library.story.facts.grammar import ENTITY, kin_words, person_words
from callboard.library.story.facts.values import NUMBER, ORDINAL

# How far an age may lie from its number, in years.
NEAR: Final = {
    "about": (-3, 4),
    "around": (-3, 4),
    "perhaps": (-4, 4),
    "some": (-4, 4),
    "maybe": (-4, 4),
    "roughly": (-4, 4),
    "not far short of": (-3, -1),
    "just short of": (-2, -1),
    "not much short of": (-3, -1),
    "nearly": (-2, 0),
    "almost": (-2, 0),
    "not quite": (-2, 0),
    "not yet": (-9, -1),
    "under": (-9, -1),
    "close on": (-3, 1),
    "getting on for": (-3, 1),
    "going on": (-1, 0),
    "rising": (-2, 0),
    "pushing": (-3, 0),
    "nearing": (-3, 0),
    "past": (0, 9),
    "over": (0, 9),
    "turned": (0, 1),
    "well past": (2, 15),
    "well over": (2, 15),
    "on the wrong side of": (0, 9),
    "on the right side of": (-9, 0),
    "the wrong side of": (0, 9),
    "the right side of": (-9, 0),
    "the far side of": (0, 9),
    "no more than": (-4, 0),
    "not more than": (-4, 0),
    "at least": (0, 12),
    "barely": (0, 1),
    "rather more than": (0, 3),
    "a little over": (0, 3),
    "a little past": (0, 3),
    "all but": (-2, 0),
    "hard on": (-2, 1),
    "on the edge of": (-2, 0),
    "approaching": (-3, 0),
    "upwards of": (0, 9),
    "not": (-12, 0),
    "not above": (-5, 0),
    "no older than": (-8, 0),
    "older than": (1, 12),
    "younger than": (-12, -1),
    "": (0, 0),
}
_NEARS: Final = "|".join(sorted(filter(None, NEAR), key=len, reverse=True))
_ABOUT: Final = rf"(?P<about>(?:{_NEARS}) )?"
# Of "seven or eight-and-thirty" the last says the age.
_AGE: Final = rf"(?:{NUMBER} (?:or|to) )?(?P<age>{NUMBER})(?:-odd)?(?!-)\b"
_YEARS_OLD: Final = r"[- ](?:years?|summers|winters)[- ](?:old|of[- ]age)\b"
_SLIGHT: Final = (
    r"(?: (?:now|only|just|still|already|scarcely|hardly|all of|a mere|exactly|then|quite"
    r"|a woman|a man|a girl|a boy))*"
)
_END: Final = (
    r"(?=\s*[.;!?)—–]|,[”\"]?(?:\s|$)|\s*$| (?:and|but|or) (?:had|has|looked|felt|still|already"
    r"|not|knew|was|could|he|she|I|a|an|it|they|in|never|old|of)\b"
    r"| (?:last|this|next|now|if|when|again|yesterday|today|to-day|already|with)\b"
    r"| (?:in|at|on|come|before) (?:January|February|March|April|May|June|July|August|September"
    r"|October|November|December|Michaelmas|Easter|Christmas|Lammas|Whitsun|Midsummer|Lady Day"
    r"|the (?:spring|summer|autumn|winter|fall)|a (?:week|month|fortnight)|his|her|my|Monday"
    r"|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b)"
)
DECADE_NAMES: Final = r"teens|twenties|thirties|forties|fifties|sixties|seventies|eighties|nineties"


@cache
def years_lived() -> re.Pattern[str]:
    """Return what finds "lived nearly twenty-one years in the world", "upright for seventy-one"."""
    return re.compile(
        rf"(?:\blived {_ABOUT}{_AGE}(?P<world> years in (?:the|this) world\b)"
        r"|\b(?:upright|young|spry|well|old|strong|active|handsome|agile|hale|brisk|nimble|fit|tall"
        rf"|small|big|forward|lively) for {_ABOUT.replace('about>', 'near>')}"
        rf"{_AGE.replace('age>', 'for>')}(?=[,.;)]))"
    )


@cache
def subject_next() -> re.Pattern[str]:
    """Return what finds a person right before a verb."""
    return re.compile(rf"(?:{ENTITY}|\b[Hh]e|\b[Ss]he|\b(?:{kin_words()}))(?: [a-z]+ly)? ?$")


@cache
def copula() -> re.Pattern[str]:
    """Return what finds "was nearly thirty", "would be forty at Michaelmas"."""
    verb = (
        r"(?P<verb>\b(?:was|is|am|were|are|will be|would be|had been|has been|being|turned|turning"
        r"|turns|had turned|has turned|reached|had reached|would not see|won['’]t see|will not see"
        r"|had not seen|hadn['’]t seen|was not|wasn['’]t|is not|isn['’]t|must be|must have been)"
        r"|['’](?:s|m|re|ll be|d be))"
    )
    return re.compile(
        rf"{verb}{_SLIGHT} {_ABOUT}{_AGE}(?:(?P<unit>{_YEARS_OLD})|(?: again)?{_END})"
    )


@cache
def person_of() -> re.Pattern[str]:
    """Return what finds "a brisk old body of sixty-odd"."""
    nouns = rf"(?P<noun>{person_words()}|thing|maiden|maid|beauty|spinster|bachelor|body|soul|dame"
    nouns += r"|party|matron|chap|bloke|kid|toddler|veteran|daughter|son|heiress|pensioner)"
    who = r"(?P<who> who (?:would|will) (?:not|never) see| who (?:is|was|has turned|had turned))"
    return re.compile(
        rf"\b(?:[Aa]n?|[Tt]he|[Tt]hat|[Tt]his|[Ss]ome) (?:[a-z-]+,? (?:and )?){{0,5}}?{nouns}"
        rf"(?:(?:,? (?:of|aged)|{who}| just turned(?: of)?)(?: some)?"
        rf"|(?=,? (?:about|around|not yet|past|over|nearly|under) ),?) {_ABOUT}{_AGE}"
        r"(?! (?:thousand|hundred|pounds|guineas|miles|feet|stone|years['’]"
        r"|years (?:of )?(?!age)\w+ing))(?:[- ]years?(?! (?:later|ago|since|before)))?"
    )


@cache
def at_age() -> re.Pattern[str]:
    """Return what finds "at two-and-thirty", "aged nine"."""
    return re.compile(
        rf"(?:(?:(?<=[;:—.“\"] )|^[“\"]?|(?<=, )|(?<={ENTITY} ))[Aa]t "
        rf"|(?P<aged>\baged |(?<={ENTITY}, )(?!at )))(?:the age of )?{_ABOUT}{_AGE}"
        r"(?! (?:o['’]clock|in the|miles|a\.?m|p\.?m|minutes|yards|sharp|precisely|feet|this|that"
        r"|on|or))"
        r"(?=,| )"
    )


@cache
def birthday() -> re.Pattern[str]:
    """Return what finds "her sixtieth birthday", "in his twentieth year"."""
    return re.compile(
        rf"(?P<yet>\bnot yet [a-z ]{{0,16}})?"
        rf"(?:\b(?P<whose>[Hh]is|[Hh]er|[Mm]y)|(?P<own>{ENTITY})['’]s?)"
        rf" (?P<nth>{ORDINAL}) (?P<what>birthday|year\b(?! (?:of|in|at|as)\b))"
    )


@cache
def decade_words() -> re.Pattern[str]:
    """Return what finds "in her early thirties"."""
    return re.compile(
        r"(?:\bin(?:to)?|(?P<out>\bout of|\bpast)) "
        rf"(?:(?P<whose>his|her|my)|(?P<own>{ENTITY})['’]s) "
        rf"(?P<part>early |mid-?|late |middle )?(?P<decade>{DECADE_NAMES})\b"
    )
