"""Dishes: the book of what can be made up, and how a model picks from it."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, Field

from callboard.choreography.answers import choices, schema_of
from callboard.core.bundled import bundled_yaml
from callboard.core.vocabulary import Content, Trust
from callboard.knowledge.entities.matching import singular_words

if TYPE_CHECKING:
    from callboard.choreography.stage import Stage

_PACKAGE: Final = "callboard.packs.alfred.kitchen.generation"


class _DishPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Share(_DishPart):
    """How much of a thing one person gets."""

    name: str
    quantity: float = Field(gt=0)
    unit: str | None = None
    # Kinds of it that do just as well, if one of them is in the house.
    also: tuple[str, ...] = ()


class Instruction(_DishPart):
    """A step whose gaps are filled by what was picked."""

    text: str
    minutes: int = Field(ge=0)


class Dish(_DishPart):
    """A form of dish: what it rests on, what goes in, how it is made."""

    words: tuple[str, ...]
    cuisine: str | None = None
    course: str = "main"
    minutes: tuple[int, int]
    rests_on: tuple[Share, ...] = Field(min_length=1)
    mains: tuple[str, ...]
    defaults: tuple[str, ...]
    greens: tuple[str, ...]
    flavours: tuple[str, ...]
    steps: tuple[Instruction, ...] = Field(min_length=1)


class DishKind(_DishPart):
    """How a kind of food is eaten: how much, how it is cut, and when it is done."""

    quantity: float
    unit: str | None = None
    cut: str
    done: str


class DishBook(_DishPart):
    """Everything new recipes are made of."""

    dishes: Mapping[str, Dish]
    flavours: Mapping[str, tuple[Share, ...]]
    kinds: Mapping[str, DishKind]
    counted: Mapping[str, float]
    fats: tuple[Share, ...]

    def kind(self, category: str) -> DishKind:
        """Return how a kind of food is eaten; what nobody knows is treated as produce."""
        return self.kinds.get(category) or self.kinds["produce"]

    def named_in(self, wish: str) -> list[str]:
        """Return the dishes a wish names, as it names them."""
        words = singular_words(wish)
        return [
            name
            for name, dish in self.dishes.items()
            if any(_holds(words, singular_words(word)) for word in dish.words)
        ]


@cache
def dish_book() -> DishBook:
    """Return the book."""
    return DishBook.model_validate(bundled_yaml(_PACKAGE, "dishes.yaml"))


def _holds(words: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    size = len(wanted)
    return any(words[at : at + size] == wanted for at in range(len(words) - size + 1))


MOST_OPTIONS: Final = 8
_AGENT: Final = "hand"
_PROMPT: Final = "pick"
_TOKENS_PER_GAP: Final = 40


async def pick(
    stage: "Stage", key: str, wish: str, gaps: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return an answer for every gap; a gap with one answer is not asked about."""
    offered = {name: list(options)[:MOST_OPTIONS] for name, options in gaps.items()}
    open_gaps = {name: options for name, options in offered.items() if len(options) > 1}
    chosen = {name: options[0] for name, options in offered.items() if len(options) == 1}
    if not open_gaps:
        return chosen
    # Names may come from stored rows: they are offered as data.
    listed = "\n".join(f"{name}: {', '.join(options)}" for name, options in open_gaps.items())
    reply = await stage.ask(
        key,
        _AGENT,
        prompt=_PROMPT,
        schema=schema_of(choices(**open_gaps)),
        max_tokens=_TOKENS_PER_GAP * (len(open_gaps) + 1),
        wish=stage.user(wish),
        gaps=Content(listed, "gaps", Trust.UNTRUSTED),
    )
    for name, options in open_gaps.items():
        said = str(reply.data.get(name)) if reply.data is not None else ""
        chosen[name] = said if said in options else options[0]
    return chosen
