"""Singulars: one form for a word and its plural. English, by rules and a short list.

It is for matching, not for reading: a word it does not know may come out odd, but its plural comes
out the same.
"""

import re
from functools import lru_cache
from typing import Final

_IRREGULAR: Final = {
    "buses": "bus", "calves": "calf", "children": "child", "dice": "die", "feet": "foot",
    "gases": "gas", "geese": "goose", "halves": "half", "hooves": "hoof", "knives": "knife",
    "leaves": "leaf", "lenses": "lens", "lives": "life", "loaves": "loaf", "men": "man",
    "mice": "mouse", "octopuses": "octopus", "people": "person", "shelves": "shelf",
    "gnus": "gnu", "menus": "menu", "ponzus": "ponzu", "shoyus": "shoyu", "teeth": "tooth",
    "tofus": "tofu", "wives": "wife", "wolves": "wolf", "women": "woman",
}  # fmt: skip
# Words that end like a plural and are none.
_SAME: Final = frozenset({
    "anis", "basis", "brussels", "cannabis", "cassis", "chablis", "chassis", "christmas",
    "crisis", "does", "gas", "gras", "haggis", "has", "his", "iris", "lens", "mars", "molasses",
    "news", "oasis", "paris", "series", "species", "swiss", "tennis", "texas", "this", "was",
    "yes",
})  # fmt: skip
_KEEPS_IE: Final = frozenset({
    "brie", "brownie", "calorie", "cookie", "die", "genie", "hoodie", "lie", "movie", "pie",
    "pixie", "prairie", "quickie", "selfie", "smoothie", "sortie", "sweetie", "tie", "veggie",
    "zombie",
})  # fmt: skip
_KEEPS_E: Final = frozenset({
    "ache", "aloe", "avalanche", "axe", "bouillabaisse", "brioche", "cache", "canoe", "ceviche",
    "cliche", "foe", "fraiche", "ganache", "headache", "hoe", "leche", "niche", "oboe",
    "pastiche", "quiche", "roe", "shoe", "tiptoe", "toe",
})  # fmt: skip
_IES: Final = re.compile(r"[^aeiou]ies$")
_ES: Final = re.compile(r"(?:ss|x|zz|tz|ch|sh|o)es$")
_SHORTEST: Final = 4


@lru_cache(maxsize=65_536)
def singular(word: str) -> str:
    """Return a lower-case word as one of its kind."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    is_plural = word.endswith("s") and not word.endswith(("ss", "us")) and word not in _SAME
    if len(word) < _SHORTEST or not is_plural or not word.isascii():
        return word
    bare = word[:-1]
    if _IES.search(word):
        return bare if bare in _KEEPS_IE else f"{word[:-3]}y"
    if _ES.search(word):
        return bare if bare in _KEEPS_E else word[:-2]
    return bare
