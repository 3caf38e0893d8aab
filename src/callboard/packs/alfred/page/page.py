"""The kitchen's page: puts its parts together and keeps them up to date. No rules of its own."""

import asyncio
import logging
from functools import cache
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote

from fastapi import Request
from nicegui import Client, ui

from callboard.choreography.turn.shapes import Gesture, GestureKind
from callboard.core.errors import CallboardError
from callboard.core.events import Event
from callboard.packs.alfred.kitchen.food.household import read_limits
from callboard.packs.alfred.page.conversation import ConversationPane, Decisions
from callboard.packs.alfred.page.panes import CookingPane, Panes, is_begun
from callboard.packs.alfred.page.seat import Seat, SeatView
from callboard.packs.alfred.project import project_of
from callboard.ui.mounting import STUDIO
from callboard.ui.plain import box, mark, press, words

_log: Final = logging.getLogger(__name__)
# Other doors write to the same kitchen; what they do is seen this much later.
_LOOK_SECONDS: Final = 2.0
_VIEWS: Final = (("talk", "Talk"), ("list", "List"), ("stock", "Stock"), ("week", "Week"))
_TURN_TO: Final = "() => document.querySelector('.kitchen').dataset.view = '{}'"


async def show_kitchen(request: Request, client: Client, who: str | None = None) -> None:
    """Show the kitchen of whoever is meant; without a name, of whom the settings name."""
    ui.add_css(_style())
    alfred = project_of(request.scope[STUDIO])
    try:
        seat = await Seat.take(alfred, who)
    except CallboardError as error:
        with box("main", "kitchen lost"):
            words("h1", error.message)
            ui.link("Back to the kitchen", "/")
        return
    page = _Page(seat, client)
    page.build(await seat.look())


@cache
def _style() -> str:
    return (Path(__file__).parent / "style.css").read_text("utf-8")


class _Page:
    """One open page."""

    def __init__(self, seat: Seat, client: Client) -> None:
        self.seat = seat
        self.client = client
        self.changing: str | None = None
        self.is_ours = False
        self.looking = asyncio.Lock()
        self.talk = ConversationPane(self.say)
        self.decisions = Decisions(self.press, self.change, self.choose_mode)
        self.panes = Panes()
        self.stove = CookingPane(self.say)
        self.modes: dict[str, ui.label] = {}

    def build(self, view: SeatView) -> None:
        self.root = box("div", "kitchen", data_view="talk")
        with self.root:
            self._header(view)
            with box("main", "talk", aria_label="Talk"):
                self.stove.build()
                self.talk.build_log()
                self.decisions.build()
                self._mode_buttons()
                self.talk.build_composer()
            with box("aside", "panes", aria_label="Kitchen"):
                self.panes.build()
            with box("nav", "views", aria_label="Views"):
                for name, title in _VIEWS:
                    made = press(title, None, f"view-{name}")
                    made.on("click", js_handler=_TURN_TO.format(name))
        self.show(view)
        stop = self.seat.listen(self.follow)
        self.client.on_delete(stop)  # pyright: ignore[reportUnknownMemberType]
        ui.timer(_LOOK_SECONDS, self.look, immediate=False)

    def _header(self, view: SeatView) -> None:
        people = {str(each["id"]): str(each["display_name"]) for each in self.seat.alfred.people()}
        with box("header", "top"):
            words("h1", "Alfred")
            with box("div", "person"):
                if len(people) > 1:
                    chosen = ui.select(
                        people, value=self.seat.user_id, on_change=self.change_person
                    )
                    chosen.props("dense borderless options-dense")
                    chosen.props["aria-label"] = "Who is cooking"
                else:
                    words("span", next(iter(people.values()), ""), "name")
            self.avoided = box("div", "avoided", role="note", aria_label="Not on this plate")
            with box("div", "actions"):
                press("Undo", self.undo, "quiet", aria_label="Undo the last change")
                press("New talk", self.begin_anew, "quiet", aria_label="Begin a new conversation")
        self.shown_avoided: list[str] | None = None

    def _mode_buttons(self) -> None:
        with box("div", "modes", role="group", aria_label="Mode"):
            for mode in self.seat.alfred.kitchen.modes():
                if mode.has_button:
                    choose = lambda name=mode.name: self.toggle_mode(name)  # noqa: E731
                    self.modes[mode.name] = press(mode.title, choose, aria_pressed="false")
            self.no_mode = words("span", "Alfred picks the mode", "no-mode")

    def show(self, view: SeatView) -> None:
        self.view = view
        mark(self.root, "data-session", self.seat.session_id)
        running = view.running
        if running is not None and not self.talk.is_busy:
            # Somebody else says something here, or the page was opened again meanwhile.
            self.talk.begin(running.user)
        elif running is None and not self.is_ours:
            self.talk.end()
        self.talk.show(view)
        self.decisions.show(view.standing)
        self.panes.show(view.glance)
        self.stove.show(view.cooking, self.seat.alfred.studio.clock.now_ms())
        if self.changing and self.changing != _plan_of(view):
            self.changing = None
            self.talk.stop_changing()
        current = view.standing.mode or view.profile.get("default_mode")
        for name, button in self.modes.items():
            mark(button, "aria-pressed", "true" if name == current else "false")
        self.no_mode.set_visibility(current not in self.modes)
        self._show_avoided(view)

    def _show_avoided(self, view: SeatView) -> None:
        allergies = [f"No {each}" for each in _listed(view.profile.get("allergies"))]
        diets = [each.replace("_", " ") for each in _listed(view.profile.get("diet"))]
        others = [
            f"{each.who}: {'' if each.kind == 'diet' else 'no '}{each.subject.replace('_', ' ')}"
            for each in read_limits(_listed(view.profile.get("eaters")))
        ]
        if [*allergies, *diets, *others] == self.shown_avoided:
            return
        self.shown_avoided = [*allergies, *diets, *others]
        self.avoided.clear()
        with self.avoided:
            for each in allergies:
                words("span", each, "tag allergy")
            for each in (*diets, *others):
                words("span", each, "tag")

    async def look(self) -> None:
        """Show what there is now."""
        async with self.looking:
            try:
                view = await self.seat.look()
            except CallboardError as error:
                _log.warning("the kitchen could not be looked at: %s", error)
                return
            self.show(view)

    def follow(self, event: Event) -> None:
        """Show how far the turn is that is under way."""
        progress = self.talk.progress
        if progress is None and is_begun(event):
            progress = self.talk.begin("")
        if progress is not None and progress.follow(event):
            self.talk.follow()

    async def say(self, message: str, gesture: Gesture | None = None) -> bool:
        """Say something, or press something; return whether it was taken."""
        if self.talk.is_busy:
            return False
        if gesture is None and self.changing and self.changing == _plan_of(self.view):
            gesture = Gesture(kind=GestureKind.CHANGE, target=self.changing)
        return await self._do(message or "…", lambda: self.seat.say(message, gesture))

    async def press(self, gesture: Gesture) -> None:
        """Press something that says it all."""
        await self.say("", gesture)

    async def undo(self) -> None:
        """Take back the last change."""
        if not self.talk.is_busy:
            await self._do("Undo that", self.seat.undo)

    def change(self) -> None:
        """Have the next words be a change of the plan that is shown."""
        self.changing = _plan_of(self.view)
        if self.changing:
            self.talk.change()

    async def toggle_mode(self, name: str) -> None:
        """Go on in a mode; pressed once more, leave it to each message."""
        await self.choose_mode("auto" if self.view.standing.mode == name else name)

    async def choose_mode(self, name: str) -> None:
        """Go on in a mode."""
        try:
            await self.seat.choose_mode(name)
        except CallboardError as error:
            self.talk.tell(_told(error))
        await self.look()

    async def begin_anew(self) -> None:
        """Begin another conversation."""
        if not self.talk.is_busy:
            await self.seat.begin_anew()
            await self.look()

    def change_person(self, event: Any) -> None:
        """Show somebody else's kitchen."""
        ui.navigate.to(f"/?who={quote(str(event.value), safe='')}")

    async def _do(self, shown: str, act: Any) -> bool:
        self.is_ours = True
        self.talk.begin(shown)
        try:
            await act()
            return True
        except CallboardError as error:
            self.talk.tell(_told(error))
            return False
        finally:
            self.is_ours = False
            await self.look()


def _plan_of(view: SeatView) -> str | None:
    return None if view.standing.proposal is None else view.standing.proposal.plan_hash


def _listed(value: Any) -> list[str]:
    return [str(each) for each in cast("list[Any]", value)] if isinstance(value, list) else []


def _told(error: CallboardError) -> str:
    return f"{error.message}. {error.fix}" if error.fix else f"{error.message}."
