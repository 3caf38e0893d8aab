"""Beginning a book: what it shall be, the style it starts with, and the number it keeps."""

import uuid
from dataclasses import dataclass, replace
from typing import Literal

from callboard.core.codec import Coded
from callboard.packs.questfoundry.artifacts.catalog import normal_form
from callboard.packs.questfoundry.cold.folding import ColdPart
from callboard.studio.studio import Studio


@dataclass(frozen=True)
class BookPlan(Coded):
    """What a book shall be. Its IFID is made once and stays."""

    title: str = "Untitled"
    author: str = ""
    genre: str = ""
    language: str = "en"
    tone: str = ""
    pov: Literal["", "first", "second", "third"] = "second"
    tense: Literal["", "past", "present"] = "present"
    target_sections: int = 40
    branching: Literal["linear", "moderate", "high"] = "moderate"
    determinism: tuple[str, ...] = ()
    awake: tuple[str, ...] = ()
    ifid: str = ""

    @classmethod
    def usual(cls, studio: Studio) -> "BookPlan":
        """Return a plan for a book nobody has described."""
        return cls(title=_usual_title(studio), ifid=new_ifid(studio))

    def is_usual(self, studio: Studio) -> bool:
        """Whether nobody has described the book yet."""
        return self.says_the_same(BookPlan(title=_usual_title(studio)))

    def says_the_same(self, other: "BookPlan") -> bool:
        """Whether another plan describes the book in the same words; the IFID is no description."""
        return replace(self, ifid="") == replace(other, ifid="")

    def told(self) -> str:
        """Say in a few lines what the book shall be."""
        facts = (
            ("title", self.title),
            ("genre", self.genre),
            ("tone", self.tone),
            ("language", self.language),
            ("point of view", self.pov),
            ("tense", self.tense),
            ("sections wanted", str(self.target_sections)),
            ("branching", self.branching),
        )
        return "\n".join(f"{name}: {value}" for name, value in facts if value)


def _usual_title(studio: Studio) -> str:
    return studio.project.root.name or "Untitled"


def new_ifid(studio: Studio) -> str:
    """Return a number that no other book has."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, studio.ids.make("session"))).upper()


def first_parts(plan: BookPlan) -> list[ColdPart]:
    """Return what the first snapshot of a book holds: its style guide."""
    guide = {"register": plan.tone, "pov": plan.pov, "tense": plan.tense}
    return [ColdPart("style_guide", normal_form("style_guide", guide))]
