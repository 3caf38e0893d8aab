"""Garden: where a grown book stands while it grows. Words come from a wording, chance from a seed.

Sections are added whole, then joined; a label names where it leads, so siblings differ whenever
their targets do.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, cast

from callboard.core.bundled import bundled_yaml
from callboard.core.codec import decode
from callboard.packs.questfoundry.book.model import (
    Book,
    Codeword,
    EndingTitle,
    Gateway,
    KeyChange,
    Picture,
    ProseStyle,
    Return,
    Section,
    SectionKind,
    StoryChoice,
)


@dataclass(frozen=True)
class BookWording:
    """The words a grown book is told in: lists to take from, and sentences with a gap."""

    title: str
    places: tuple[str, ...]
    things: tuple[str, ...]
    printed: tuple[str, ...]
    arriving: tuple[str, ...]
    seeing: tuple[str, ...]
    asking: tuple[str, ...]
    going: tuple[str, ...]
    finding: str
    phrase: str
    refusal: str
    difference: str
    ending: str
    returning: str
    opening: str
    ending_label: str


def plain_wording() -> BookWording:
    """Return the words that ship with the house."""
    held = dict(cast(Mapping[str, Any], bundled_yaml(__package__ or "", "wording.yaml")))
    nouns: list[str] = held.pop("nouns")
    adjectives: list[str] = held.pop("adjectives")
    # Neighbours in this order share neither word.
    places = tuple(
        f"{adjectives[(start + n) % len(adjectives)]} {noun}"
        for start in range(len(adjectives))
        for n, noun in enumerate(nouns)
    )
    return decode(BookWording, {**held, "places": places})


@dataclass
class Plot:
    """A section that is still growing: what it was planted as, and what has grown on it."""

    seed: Section
    place: str
    finds: list[str] = field(default_factory=list[str])
    choices: list[StoryChoice] = field(default_factory=list[StoryChoice])
    effects: list[KeyChange] = field(default_factory=list[KeyChange])

    @property
    def is_end(self) -> bool:
        """Whether the story is over here."""
        return self.seed.kind is SectionKind.TERMINAL

    def harvest(self) -> Section:
        """Return the section as it has grown."""
        return replace(
            self.seed,
            text=" ".join([self.seed.text, *self.finds]),
            choices=tuple(self.choices),
            effects=tuple(self.effects),
        )


@dataclass
class Garden:
    """Everything that has grown so far."""

    wording: BookWording
    chance: Random
    plots: dict[str, Plot] = field(default_factory=dict[str, Plot])
    gateways: list[Gateway] = field(default_factory=list[Gateway])
    returns: list[Return] = field(default_factory=list[Return])
    codewords: list[Codeword] = field(default_factory=list[Codeword])
    endings: list[EndingTitle] = field(default_factory=list[EndingTitle])
    things: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, kind: SectionKind = SectionKind.NORMAL, *, keystone: bool = False) -> str:
        """Add a section and return its id."""
        number = len(self.plots)
        words = self.wording
        place = words.places[number % len(words.places)]
        lines = [
            self.chance.choice(words.arriving).format(place=place),
            self.chance.choice(words.seeing),
            words.ending if kind is SectionKind.TERMINAL else self.chance.choice(words.asking),
        ]
        name = f"s{number + 1:05d}"
        text = " ".join(lines)
        self.plots[name] = Plot(Section(name, f"The {place}", text, kind, keystone), place)
        return name

    def end(self) -> str:
        """Add an ending."""
        section = self.add(SectionKind.TERMINAL)
        self.endings.append(EndingTitle(section, f"At the {self.plots[section].place}"))
        return section

    def join(self, one: str, other: str, *, label: str = "", gateway: str | None = None) -> bool:
        """Add a choice from one section to another, unless there is one."""
        plot = self.plots[one]
        if one == other or any(choice.to == other for choice in plot.choices):
            return False
        place = self.plots[other].place
        if not label:
            label = self.wording.going[len(plot.choices) % len(self.wording.going)]
        if self.plots[other].is_end:
            label = self.wording.ending_label
        number = len(plot.choices) + 1
        choice = StoryChoice(f"{one}_c{number}", label.format(place=place), other, gateway=gateway)
        plot.choices.append(choice)
        return True

    def back(self, one: str, other: str, thing: str | None = None) -> None:
        """Add a way back; with a thing it is a declared loop with that difference."""
        self.join(one, other, label=self.wording.returning)
        if thing is not None:
            told = self.wording.difference.format(thing=thing)
            self.returns.append(Return(one, other, told))

    def grant(self, section: str) -> str:
        """Let a section give a new key, and return the key."""
        number = len(self.codewords)
        words = self.wording
        thing = words.things[number % len(words.things)]
        key = f"has_{thing.replace(' ', '_')}_{number + 1}"
        printed = words.printed[number % len(words.printed)]
        if number >= len(words.printed):
            printed = f"{printed} {words.printed[(number // len(words.printed) - 1) % 32]}"
        self.codewords.append(Codeword(key, printed, reviewed=True))
        self.things[key] = thing
        self.give(section, key)
        return key

    def give(self, section: str, key: str) -> None:
        """Let one more section give a key."""
        plot = self.plots[section]
        plot.effects.append(KeyChange("set", key))
        plot.finds.append(self.wording.finding.format(thing=self.things[key]))

    def gate(self, one: str, other: str, key: str) -> None:
        """Join two sections by a gateway that a key opens."""
        thing = self.things[key]
        number = f"g{len(self.gateways) + 1:03d}"
        granted = tuple(
            p.seed.id for p in self.plots.values() if KeyChange("set", key) in p.effects
        )
        label = self.wording.opening.replace("{thing}", thing)
        if self.join(one, other, label=label, gateway=number):
            phrase, refusal = self.wording.phrase, self.wording.refusal
            self.gateways.append(
                Gateway(
                    number,
                    one,
                    key,
                    phrase=phrase.format(thing=thing),
                    refusal=refusal.format(thing=thing),
                    granted_at=granted,
                )
            )

    def harvest(self) -> Book:
        """Return the book as it has grown."""
        first = next(iter(self.plots.values()))
        picture = Picture(
            "p1", first.seed.id, f"The {first.place}", alt=f"A path leads to the {first.place}."
        )
        return Book(
            self.wording.title,
            first.seed.id,
            tuple(plot.harvest() for plot in self.plots.values()),
            gateways=tuple(self.gateways),
            returns=tuple(self.returns),
            endings=tuple(self.endings),
            codewords=tuple(self.codewords),
            pictures=(picture,),
            style=ProseStyle(pov="second", tense="present", highest_grade=9.0),
        )
