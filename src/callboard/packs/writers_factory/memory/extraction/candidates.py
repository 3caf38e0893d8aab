"""Candidates: names a small model may be asked about, found in a text by code alone."""

import re
from typing import Final

from callboard.library.story.lexicon import word_list

MOST: Final = 8
_RUN: Final = re.compile(r"(?<![\w'\u2019])[A-Z][\w'\u2019-]*(?:[ \t]+[A-Z][\w'\u2019-]*)*")
# Far enough to see the end of a sentence behind a few spaces.
_LOOK_BACK: Final = 40
_SENTENCE_END: Final = re.compile(r"[.!?:;\"\u201c\u201d()\n]\s*$")


def find_candidates(text: str, *, most: int = MOST) -> tuple[str, ...]:
    """Return the names in a text, those that occur most first."""
    counts: dict[str, int] = {}
    inside: set[str] = set()
    for hit in _RUN.finditer(text):
        before = text[max(0, hit.start() - _LOOK_BACK) : hit.start()]
        opens = hit.start() == 0 or _SENTENCE_END.search(before) is not None
        name = _bare(hit[0], opens=opens)
        if name:
            counts[name] = counts.get(name, 0) + 1
            if not opens or " " in name:
                inside.add(name)
    # A word that only ever opens a sentence may be any word.
    known = [name for name in counts if name in inside or counts[name] > 1]
    return tuple(sorted(known, key=lambda name: (-counts[name], text.find(name)))[:most])


def _bare(run: str, *, opens: bool) -> str:
    words = [re.sub(r"['\u2019]s$", "", word).strip("'\u2019-") for word in run.split()]
    starters = word_list("sentence_starters")
    if opens and len(words) > 1 and words[0].casefold() in starters:
        words = words[1:]
    common = word_list("not_names")
    kept = [word for word in words if len(word) > 1]
    if not kept or (len(kept) == 1 and kept[0].casefold() in (common | starters)):
        return ""
    return " ".join(kept)
