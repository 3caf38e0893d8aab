"""Conversation: what was said, and what waits for the user's word."""

from collections.abc import Awaitable, Callable
from typing import Final

from nicegui import ui

from callboard.choreography.turn.shapes import (
    Affected,
    Gesture,
    GestureKind,
    PendingClarification,
    PendingProposal,
)
from callboard.choreography.turn.standing import TalkStanding
from callboard.core.vocabulary import Entity
from callboard.packs.alfred.page.panes import Progress
from callboard.packs.alfred.page.seat import SeatMessage, SeatView
from callboard.ui.plain import box, mark, press, words

Say = Callable[[str], Awaitable[bool]]
_MOST_CHARS: Final = 8000
_SAY: Final = "Say something to Alfred"
_CHANGE: Final = "What should be different?"
# Enter sends; with Shift it is a new line, and while a word is being composed it ends that word.
_ENTER: Final = "(e) => { if (!e.shiftKey && !e.isComposing) { e.preventDefault(); emit(); } }"
_TO_END: Final = "document.getElementById('talk').scrollTop = 0;"
_FOCUS: Final = "document.querySelector('.composer textarea')?.focus();"
HINTS: Final = (
    "Add milk and 6 eggs to my shopping list",
    "What can I make with what I have?",
    "Plan dinners for next week",
)


class ConversationPane:
    """The column one talks in."""

    def __init__(self, say: Say) -> None:
        """Take how something is said; it answers whether it was taken."""
        self._say = say
        self._shown: dict[int, tuple[SeatMessage, ui.element]] = {}
        self.progress: Progress | None = None

    def build_log(self) -> None:
        """Show what was said, and below it what is under way."""
        self._client = ui.context.client
        log = box("div", "log", id="talk", role="log", aria_label="Conversation", tabindex="0")
        with log, box("div", "said"):
            self._welcome = box("div", "welcome")
            with self._welcome:
                words("h2", "Good to see you.")
                words("p", "Tell me what you have, what you need, or what you feel like eating.")
                with box("div", "hints"):
                    for hint in HINTS:
                        press(hint, lambda hint=hint: self._say(hint), "hint")
            self._turns = box("div", "turns")
            self._under_way = box("div", "turn under-way")
            with self._under_way:
                self._asked = words("div", "", "bubble mine")
                with box("div", "bubble his", role="status"):
                    self._reply = words("div", "", "text")
                    with box("div", "doing"):
                        box("span", "pulse", aria_hidden="true")
                        self._doing = words("span")
        self._under_way.set_visibility(False)

    def build_composer(self) -> None:
        """Show where one types."""
        with box("div", "composer"):
            with box("div", "changing") as self._changing:
                words("span", "Changing the plan.")
                press("Leave it", self.stop_changing, "quiet", id="leave-it")
            self._changing.set_visibility(False)
            self._trouble = words("p", "", "trouble", role="alert")
            with box("div", "line"):
                self._input = ui.textarea(placeholder=_SAY).props(
                    f"autogrow borderless dense maxlength={_MOST_CHARS}"
                )
                self._input.props["aria-label"] = _SAY
                self._input.props["input-class"] = "typed"
                self._input.on("keydown.enter", self._send, js_handler=_ENTER)
                self._button = press("Send", None, "send", id="send")
                self._button.on("click", self._send)

    @property
    def is_busy(self) -> bool:
        """Whether a turn is under way."""
        return self.progress is not None

    def begin(self, message: str) -> Progress:
        """Show that something was said and is being worked on."""
        self.progress = Progress()
        self._asked.text = message
        self.tell("")
        self.follow()
        self._under_way.set_visibility(True)
        self._welcome.set_visibility(False)
        mark(self._button, "disabled", "true")
        self._run(_TO_END)
        return self.progress

    def follow(self) -> None:
        """Show how far it is."""
        if self.progress is None:
            return
        self._doing.text = self.progress.doing
        self._reply.text = self.progress.reply

    def end(self) -> None:
        """Show that nothing is under way."""
        if self.progress is None:
            return
        self.progress = None
        self._under_way.set_visibility(False)
        self._reply.text = ""
        mark(self._button, "disabled", None)

    def tell(self, trouble: str) -> None:
        """Say what went wrong, or that nothing does."""
        self._trouble.text = trouble

    def change(self) -> None:
        """Have the next words be a change of the plan that is open."""
        self._changing.set_visibility(True)
        self._input.props["placeholder"] = _CHANGE
        self._input.props["aria-label"] = _CHANGE
        self._run(_FOCUS)

    def stop_changing(self) -> None:
        """Have the next words be plain words again."""
        self._changing.set_visibility(False)
        self._input.props["placeholder"] = _SAY
        self._input.props["aria-label"] = _SAY

    def show(self, view: SeatView) -> None:
        """Show what was said; what is shown already stays where it is."""
        settled = [each for each in view.said if not each.is_running]
        wanted = {each.turn for each in settled}
        for gone in [turn for turn in self._shown if turn not in wanted]:
            self._shown.pop(gone)[1].delete()
        for each in settled:
            known = self._shown.get(each.turn)
            if known is not None and known[0] == each:
                continue
            if known is not None:
                known[1].delete()
            with self._turns:
                self._shown[each.turn] = (each, _turn(each))
        self._welcome.set_visibility(not view.said and not self.is_busy)

    async def _send(self) -> None:
        message = (self._input.value or "").strip()
        if not message or self.is_busy:
            return
        self._input.value = ""
        if not await self._say(message) and not self._input.value:
            # What could not be said is not lost.
            self._input.value = message

    def _run(self, code: str) -> None:
        if self._client.has_socket_connection:
            self._client.run_javascript(code)


def _turn(said: SeatMessage) -> ui.element:
    with box("div", "turn") as shown:
        words("div", said.user, "bubble mine")
        words("div", said.assistant or "This was not answered.", "bubble his text")
    return shown


Press = Callable[[Gesture], object]


class Decisions:
    """What can be decided by a button."""

    def __init__(
        self, press: Press, change: Callable[[], object], switch: Callable[[str], object]
    ) -> None:
        """Take what a button does, how a plan is changed, and how the mode is."""
        self._press = press
        self._change = change
        self._switch = switch
        self._standing: TalkStanding | None = None

    def build(self) -> None:
        """Make room for it."""
        self._room = box("div", "decisions", aria_live="polite")

    def show(self, standing: TalkStanding) -> None:
        """Show what waits; nothing moves if nothing has changed."""
        if standing == self._standing:
            return
        self._standing = standing
        self._room.clear()
        with self._room:
            if standing.proposal is not None:
                self._proposal(standing.proposal)
            elif standing.clarification is not None:
                self._question(standing.clarification)
            if standing.drafts:
                self._drafts(standing.drafts)
            if standing.suggested_mode is not None:
                name = standing.suggested_mode
                with box("div", "card slim"):
                    words("span", "This looks like a case for another mode.")
                    press(f"Switch to {name.capitalize()}", lambda: self._switch(name), "strong")

    def _proposal(self, proposal: PendingProposal) -> None:
        target = proposal.plan_hash
        with box("section", "card proposal", aria_label="A plan waits for your word"):
            words("h3", "Shall I do this?")
            words("p", proposal.goal, "text")
            if proposal.affected:
                with box("ul"):
                    for each in proposal.affected:
                        words("li", _told(each))
            with box("div", "buttons"):
                self._button("Confirm", GestureKind.CONFIRM, target, "strong")
                press("Change", self._change)
                self._button("Cancel", GestureKind.CANCEL, target, "quiet")

    def _question(self, asked: PendingClarification) -> None:
        with box("section", "card question", aria_label="Alfred asks"):
            words("h3", "Your answer")
            with box("div", "buttons"):
                for option in asked.options:
                    self._button(option.label, GestureKind.PICK, option.id)
                self._button("Never mind", GestureKind.CANCEL, "", "quiet")

    def _drafts(self, drafts: tuple[Entity, ...]) -> None:
        with box("section", "drafts", aria_label="Drafts"):
            for entity in drafts:
                with box("div", "chip"):
                    words("span", entity.type.replace("_", " "), "kind")
                    words("span", entity.label, "name")
                    for kind, classes in ((GestureKind.KEEP, "keep"), (GestureKind.DROP, "")):
                        name = kind.value.capitalize()
                        label = f"{name} {entity.label}"
                        self._button(name, kind, entity.id, classes, label)

    def _button(
        self, text: str, kind: GestureKind, target: str, classes: str = "", label: str = ""
    ) -> None:
        gesture = Gesture(kind=kind, target=target)
        made = press(text, lambda: self._press(gesture), classes)
        if label:
            made.props["aria-label"] = label


def _told(affected: Affected) -> str:
    what = affected.table.replace("_", " ")
    more = affected.count - len(affected.labels)
    names = ", ".join(affected.labels) + (
        f" and {more} more (say no and ask for them to see all)" if more > 0 else ""
    )
    return f"{affected.op} {affected.count} in {what}" + (f": {names}" if affected.labels else "")
