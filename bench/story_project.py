"""A generated novel: scenes, an outline and canon cards of a given size, always the same.

The sentences come from templates and mean little, but they are built like prose: narration and
speech, names, pronouns, numbers, dates, and a vocabulary as wide as a novel's.
"""

import random
from pathlib import Path


def _words(text: str) -> list[str]:
    return text.split()


_FIRST = _words(
    "Alda Bram Cora Dain Edda Finn Gerda Hal Isolde Joren Kael Lena Mira Nils Orla Per Runa Sten"
    " Tilda Ulf Vera Wim Ysolde Zeno"
)
_LAST = _words("Ashdown Brook Carrow Dunmore Ferris Holt Marlow Thorne Vance Winter")
_PLACES = _words("Fortress Harbour Mill Chapel Bridge Market")
_NOUNS = _words(
    "door lamp river letter road wall snow window table hand voice boat key bell knife garden stair"
    " field horse coat fire storm ledger harbour rope glass stone candle morning night shadow"
    " gate sister brother captain child stranger promise debt war winter bread water blood silence"
)
_VERBS = _words(
    "opened carried watched crossed found held lost followed broke kept counted lifted burned"
    " heard remembered forgot touched named buried closed waited-for turned-from reached"
)
_HOW = _words("slowly quietly at-once again without-a-word for-an-hour in-the-dark twice badly")
_LIKE = _words("grey cold narrow old broken quiet bright heavy bitter empty wet iron small last")
_SPOKEN = _words("said asked answered whispered called muttered")
_SPEECH = (
    "If the {noun} is gone, we will all be dead before spring",
    "I never wanted the {noun}, and you know it",
    "Where did you leave the {noun}",
    "Three days ago you promised me the {noun}",
    "Nobody comes back from the {place}",
    "You have {number} men and one {noun}",
)
_TOLD = (
    "{name} {verb} the {like} {noun} and {verb} the {noun} {how}.",
    "The {like} {noun} was {like}, and nobody {verb} it.",
    "She {verb} the {noun}, because the {noun} of the {place} had been {like} since the {word}.",
    "It was a {like} {noun}; the {word} {verb} it {how}, and {name} saw it.",
    "Behind the {noun} of the {place} there was a {word}, and behind the {word} a {noun}.",
    "He {verb} {number} {word}s {how}.",
    "What had become of the {noun}?",
    "{name} had {like} eyes and a {like} {word}.",
)
_SYLLABLES = _words(
    "an bel cor dra el fen gar hol ith jor kel lum mor nar ond pel quil ros sal tor"
)


class Novel:
    """Writes the files of a novel."""

    def __init__(self, scenes: int, words: int, cards: int) -> None:
        self._dice = random.Random(4)
        self._scenes = scenes
        self._words = words
        self._people = [f"{self._pick(_FIRST)} {self._pick(_LAST)}" for _ in range(cards)]
        self._people = list(dict.fromkeys(self._people))
        self._rare = ["".join(self._dice.choices(_SYLLABLES, k=3)) for _ in range(6_000)]

    def write(self, folder: Path) -> None:
        """Write outline, cards and scenes."""
        for number, name in enumerate(self._people):
            self._save(folder, f"Compendium/Characters/CHAR-{number:02}.md", self._card(name))
        self._save(folder, "Story/SCN-outline.md", self._outline())
        for number in range(1, self._scenes + 1):
            self._save(folder, f"Story/Scenes/SCN-{number:03}-scene.md", self._scene(number))

    def _card(self, name: str) -> str:
        first = name.split()[0]
        return (
            f"---\ntype: character\ntitle: {name}\naliases: [{first}]\n---\n# {name}\n\n"
            f"Eyes: {self._pick(('grey', 'green', 'brown'))}\nAge: {self._dice.randint(18, 70)}\n"
            f"Handedness: left-handed\n\n{name} is known for the {self._pick(_NOUNS)}.\n"
        )

    def _outline(self) -> str:
        parts = ["# The Long Road"]
        for number in range(1, self._scenes + 1):
            if number % 50 == 1:
                parts.append(f"## Act {number // 50 + 1}")
            beats = "\n".join(f"- {self._told()}" for _ in range(3))
            name = self._pick(self._people)
            parts.append(
                f"### Scene {number}: The {self._pick(_LIKE)} {self._pick(_NOUNS)} {number}\n\n"
                f"POV: {name}\nLocation: {self._pick(_PLACES)}\nCharacters: {name}\n"
                f"Stakes: If the {self._pick(_NOUNS)} falls, the town starves.\n\n{beats}"
            )
        return "\n\n".join(parts) + "\n"

    def _scene(self, number: int) -> str:
        day = f"1204-{1 + number // 28 % 12:02}-{1 + number % 28:02}"
        head = (
            f"---\nscene: {number}\npov: {self._pick(self._people)}\n"
            f"location: {self._pick(_PLACES)}\nwhen: {day}\n---\n# Scene {number}\n"
        )
        paragraphs: list[str] = []
        left = self._words
        while left > 0:
            paragraphs.append(self._paragraph())
            left -= len(paragraphs[-1].split())
        return head + "\n" + "\n\n".join(paragraphs) + "\n"

    def _paragraph(self) -> str:
        if self._dice.random() < 0.4:
            speech = self._filled(self._pick(_SPEECH))
            name = self._pick(self._people).split()[0]
            return f"“{speech},” {name} {self._pick(_SPOKEN)}. {self._told()}"
        return " ".join(self._told() for _ in range(self._dice.randint(3, 7)))

    def _told(self) -> str:
        return self._filled(self._pick(_TOLD))

    def _filled(self, template: str) -> str:
        while "{" in template:
            before, _, rest = template.partition("{")
            key, _, after = rest.partition("}")
            template = before + self._word(key) + after
        return template.replace("-", " ")

    def _word(self, key: str) -> str:
        if key == "word":
            # A few words are common and most are rare, as in any text.
            return self._rare[min(int(self._dice.paretovariate(0.6)), len(self._rare)) - 1]
        if key == "number":
            return str(self._dice.randint(2, 40))
        if key == "name":
            return self._pick(self._people).split()[0]
        lists = {"noun": _NOUNS, "verb": _VERBS, "how": _HOW, "like": _LIKE, "place": _PLACES}
        return self._pick(lists[key])

    def _pick(self, words: list[str] | tuple[str, ...]) -> str:
        return self._dice.choice(words)

    def _save(self, folder: Path, path: str, text: str) -> None:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
