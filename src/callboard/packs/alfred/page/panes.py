"""Panes: the shopping list, the stock and the week, as they are now."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from callboard.packs.alfred.kitchen.glance import Day, Glance, Item, Shelf
from callboard.ui.plain import box, words


class Pane:
    """One of them; it is drawn again only when what it shows has changed."""

    def __init__(self, name: str, title: str, empty: str, draw: Callable[[Any], None]) -> None:
        """Take its name, its heading, what it says when it is empty, and how it is drawn."""
        self._name = name
        self._title = title
        self._empty = empty
        self._draw = draw
        self._shown: Any = None

    def build(self) -> None:
        """Make room for it."""
        with box("section", f"pane pane-{self._name}", aria_label=self._title):
            with box("header"):
                words("h2", self._title)
                self._count: ui.label = words("span", "", "count")
            self._room = box("div", "body")

    def show(self, content: Any, count: str) -> None:
        """Show what there is now."""
        if content == self._shown:
            return
        self._shown = content
        self._count.text = count
        self._room.clear()
        with self._room:
            if not count:
                words("p", self._empty, "empty")
            if count or self._name == "week":
                self._draw(content)


class Panes:
    """The three of them."""

    def __init__(self) -> None:
        """Make them."""
        self._list = Pane("list", "Shopping list", "Nothing to buy.", _shelves)
        self._stock = Pane("stock", "In the house", "Nothing noted yet.", _shelves)
        self._week = Pane("week", "The week", "", _days)

    def build(self) -> None:
        """Make room for them."""
        for pane in (self._list, self._stock, self._week):
            pane.build()

    def show(self, glance: Glance) -> None:
        """Show the kitchen as it is now."""
        self._list.show(glance.shopping, _number(glance.shopping))
        self._stock.show(glance.stock, _number(glance.stock))
        planned = sum(len(day.meals) for day in glance.week)
        self._week.show(glance.week, str(planned) if planned else "")


def _number(shelves: tuple[Shelf, ...]) -> str:
    count = sum(len(shelf.items) for shelf in shelves)
    return str(count) if count else ""


def _shelves(shelves: tuple[Shelf, ...]) -> None:
    for shelf in shelves:
        is_urgent = any(item.is_urgent for item in shelf.items)
        with box("div", "shelf urgent" if is_urgent else "shelf"):
            if shelf.title:
                words("h3", shelf.title)
            with box("ul"):
                for item in shelf.items:
                    _item(item)


def _item(item: Item) -> None:
    with box("li"):
        words("span", item.name, "name")
        if item.note:
            words("span", item.note, "note")
        words("span", item.amount, "amount")


def _days(days: tuple[Day, ...]) -> None:
    with box("ol", "days"):
        for day in days:
            with box("li", "day today" if day.is_today else "day"):
                words("span", day.title, "when")
                with box("div", "meals"):
                    for meal in day.meals:
                        with box("div", "meal"):
                            words("span", meal.name, "name")
                            beside = ", ".join(each for each in (meal.amount, meal.note) if each)
                            words("span", beside, "note")
                    if not day.meals:
                        words("span", "–", "none", aria_label="nothing planned")
