"""Deaths: the many ways a sentence says that somebody is dead, and what only sounds like it."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from callboard.library.story.facts.claims import Attribute, FoundClaim, Value
from callboard.library.story.facts.grammar import (
    ENTITY,
    SUBJECT,
    Masked,
    alternatives,
    named_by,
)
from callboard.library.story.lexicon import words_in

_SIGNS: Final = ENTITY[1:-1]
_DEAD: Final = Value("dead", frozenset({"dead"}))
_APPOSITION: Final = r"(?:, (?:[a-z’'-]+ ?){1,7},|,(?= had| was))?"
_ADVERB: Final = r"(?: [a-z]+ly| then| too| also| still| already| finally| at last| both)?"
_OWN: Final = r"(?:his|her|my)"
_HAD: Final = r"(?:had |has )?"
# "The night Kael died", "before she died": a clause that dates something else may look ahead.
_DATING: Final = re.compile(
    r"\b(?:when|before(?! (?:mid|dawn|noon|morning|long|the (?:day|night|week|year|morning)))|after"
    r"|until|till|since|once|if|because|how|why|where|whether|as"
    r"|(?:the|that) (?:day|night|morning|evening|hour|moment|time|week|month|year|summer|winter"
    r"|spring|autumn|fall))\b[^,;:—]*$",
    re.IGNORECASE,
)
_KILLED: Final = (
    r"(?:killed|slain|murdered|executed|hanged|hung|beheaded|guillotined|drowned|poisoned|strangled"
    r"|shot dead|stabbed to death|beaten to death|crushed to death|burned to death|burnt to death"
    r"|burned alive|gunned down|cut down|run through|lost at sea|laid to rest|cremated|assassinated"
    r"|buried(?= (?:on|at|last|next|yesterday|that|beside|besides|with|by|there|here|two"
    r"|three|in (?:the"
    r"|a |[A-Z]))|[.,;]|$))"
)
_SLAYERS: Final = (
    r"(?i:fever|cancer|cholera|typhoid|typhus|consumption|tuberculosis|pneumonia|influenza"
    r"|flu|smallpox"
    r"|plague|stroke|heart attack|sea|river|war|fire|flood|avalanche|bullet|blade|blast|bomb"
    r"|explosion"
    r"|disease|illness|virus|drink|poison|cold|winter|famine|leukaemia|leukemia|tumour|tumor|mine)"
)
# A death may be told by what did not happen.
_NO: Final = re.compile(r"\b(?:not|never|no)\b|n[’']t\b")
_TRIGGER: Final = re.compile(
    r"\b(?:died|dies|dead|death|corpse|body|perish|expire|passed (?:away|on)|drown|succumb|suffocat"
    r"|bled|starved|froze|frozen|burned to|burnt to|choked|fell\b|went down|stopped (?:breath|beat)"
    r"|never woke|last\b|ghost|lost\b|met (?:his|her)|own life|himself|herself|make it"
    r"|survive|pull "
    r"through|no more|reward|grave|maker|neck|departed|bucket|stiff|widow|funeral|burial"
    r"|buried|ashes"
    r"|remains|murder|coffin|headstone|tomb|wake|obituary|suicide|late\b|gave (?:out|way)|kaddish"
    r"|end of|mortuary|morgue|took\b|claimed|carried off|gone before|strangled|kill|slain|execut"
    r"|hang|hung|behead|poison|shot|stabbed|beaten|crushed|gunned|cut down|run through|laid to"
    r"|cremat|assassin|laid out)"
)


def find_deaths(masked: Masked) -> Iterator[FoundClaim]:
    """Yield who a sentence tells to be dead."""
    if not _TRIGGER.search(masked.text):
        return
    for pattern, is_clause in _patterns():
        for match in pattern.finditer(masked.text):
            who = named_by(masked, match)
            if who is None or (is_clause and _DATING.search(masked.text[: match.start()])):
                continue
            # What had happened before may be told before a scene that goes back there.
            told = match[0].lower()
            is_past = re.search(r"\b(?:had|has)\b", match[0])
            yield FoundClaim(
                Attribute.DEATH,
                _DEAD,
                who,
                match.start(),
                match.end(),
                confidence=0.5 if is_past else 0.9,
                says_no=bool(_NO.search(told)),
            )


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], bool], ...]:
    not_dead = alternatives(_figures("dead_figures"))
    not_died = alternatives(_figures("died_figures"))
    subject = rf"{SUBJECT}{_APPOSITION}{_ADVERB}"
    any_name = rf"(?P<who>{ENTITY})(?!['’])"
    clauses = (
        rf"{subject} (?:died|has died|had died|dies)\b(?! (?:{not_died})\b)"
        r"(?! in (?:the [a-z]+ |[a-z]+ )?(?:act|scene|play|book|film|dream)\b)",
        # The judge suffered a relapse and died.
        rf"{SUBJECT} [a-z][^.;:!?—{_SIGNS}]{{2,80}}? and (?:then |so |at last )?"
        r"(?:died(?=[.,;]| (?:there|in|of|at|on|within|before|that|the))"
        r"|was dead\b(?! (?:tired|to|on)))",
        rf"{subject} {_HAD}(?:perished|expired|succumbed|suffocated|bled out|drowned)\b",
        rf"{subject} {_HAD}passed (?:away|on(?= (?:last|peacefully|in (?:his|her) sleep)))",
        rf"{subject} {_HAD}(?:bled|starved|froze|frozen|burned|burnt|choked) to death\b",
        rf"{subject} {_HAD}(?:drank|drunk|worked|starved) (?:himself|herself) to death\b",
        rf"{subject} {_HAD}(?:hanged|shot|drowned|killed|poisoned) (?:himself|herself)\b",
        rf"{subject} {_HAD}(?:taken|took) {_OWN} own life\b",
        rf"{subject} {_HAD}(?:fell|fallen) (?:at|before) (?:[A-Z]\w+|{ENTITY})",
        rf"{subject} {_HAD}(?:went|gone) down with (?:{_OWN}|the) (?:ship|boat|vessel|crew"
        rf"|plane)\b",
        rf"{subject} {_HAD}(?:went|gone) to {_OWN} (?:reward|grave|maker|rest)\b",
        rf"{subject} {_HAD}stopped breathing\b",
        rf"{subject} {_HAD}never (?:woke|woken|awoke)(?: (?:again|up|from)|[.,;])",
        rf"{subject} (?:breathed|drew) {_OWN} last(?: breath)?\b",
        rf"{subject} {_HAD}(?:given|gave) up the ghost\b",
        rf"{subject} {_HAD}(?:lost {_OWN} life|met {_OWN} (?:end|death)|departed this life)\b",
        rf"{subject} {_HAD}(?:broken|broke) {_OWN} neck\b",
        rf"{subject} (?:did not|didn[’']t|had not|hadn[’']t) (?:make it|made it|survived?"
        rf"|pull(?:ed)?"
        r" through)(?=[.,;!”\"]|$| the (?:night|winter|crash|operation))",
        rf"{subject} (?:was|is|lay|lies|fell|’s|'s){_ADVERB} dead\b(?!-)(?! (?:{not_dead})\b)",
        rf"{subject} (?:is|was) no more(?=[.,;!]|$)",
        rf"{subject} (?:was gone before|lay stiff and cold|lay cold and)\b",
        rf"{subject} (?:was|were|had been|has been|is){_ADVERB} {_KILLED}",
        rf"{subject} had been dead(?: (?:for|since|these|[a-z]+ (?:years|months|weeks|days)))\b",
        rf"(?P<who>{ENTITY})['’]s dead\b(?! (?:{not_dead}|[a-z]+s)\b)",
        rf"(?P<who>{ENTITY})['’]s? (?:heart (?:had )?(?:stopped|gave out|given out|gave way))\b",
    )
    others = (
        rf"\b{_HAD}(?:killed|murdered|slain|slew|executed|beheaded|hanged|strangled|buried"
        rf"|assassinated)"
        rf" (?:little |old |poor |young )?{any_name}(?! with (?:an?|his|her|one) (?:look"
        rf"|glance|stare"
        r"|smile|word))(?! (?:in (?:paper|work|kisses)|alive))",
        rf"\b(?:[Ww]e|I|[Tt]hey|[Hh]e|[Ss]he) (?:had )?lost {any_name}"
        r"(?= (?:to|last|that|in the (?:war|fire|flood|spring|summer|autumn|winter))\b|[.;]|$)",
        rf"\b{_SLAYERS} (?:had )?(?:took|taken|carried off|claimed|killed|finished|got) "
        rf"(?:little |old |poor |young |away )?{any_name}",
        rf"\bcarried off (?:little |old |poor |young )?{any_name}",
        rf"(?P<who>{ENTITY})['’]s? (?:corpse|dead body|ashes|remains|coffin|headstone"
        rf"|tombstone|grave"
        r"|obituary|funeral|burial|cremation|widow|widower|suicide)\b",
        rf"(?P<who>{ENTITY})['’]s? body (?:was|lay|had been)\b",
        rf"\b(?:pulled|dragged|lifted|found|buried|identified"
        rf"|carried) (?P<who>{ENTITY})['’]s? body\b",
        rf"\b(?:[Ss]ince|[Aa]fter|[Oo]f) (?P<who>{ENTITY})['’]s? (?:death|murder|drowning"
        rf"|suicide)\b",
        rf"(?P<who>{ENTITY})['’]s? (?:death|murder) (?:had|was|left|came)\b",
        rf"\b(?:body|corpse|ashes|remains|funeral|burial|widow|murder|grave) of (?:the )?"
        rf"(?:late |old |poor )?{any_name}",
        rf"\b[Tt]he late (?:lamented )?{any_name}",
        rf"\b(?:[Aa]mong|[Aa]mongst) the (?:dead|victims|drowned|fallen|slain) (?:was|were|is)"
        rf"(?: (?:the|a|an|his|her) [a-z -]{{2,30}},?)? {any_name}",
        rf"\b(?:pronounced|found|left|shot|declared|struck) {any_name} dead\b",
        rf"\b(?:that was|that[’']s|it was) the end of {any_name}",
        rf"\b(?:kaddish|requiem|last rites|funeral mass|wake) (?:for|of) {any_name}",
        rf"\b(?:identify|identified) {any_name} (?:in|at) the (?:mortuary|morgue)\b",
    )
    return (
        *((re.compile(shape), True) for shape in clauses),
        *((re.compile(shape), False) for shape in others),
    )


def _figures(group: str) -> frozenset[str]:
    return frozenset(word.replace("_", " ") for word in words_in("facts", group))
