"""Conversation: what was said, what is being done about it, and where one types."""

from collections.abc import Awaitable, Callable
from typing import Final

from nicegui import ui

from callboard.packs.alfred.page.progress import Progress
from callboard.packs.alfred.page.seat import Said, View
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


class Conversation:
    """The column one talks in."""

    def __init__(self, say: Say) -> None:
        """Take how something is said; it answers whether it was taken."""
        self._say = say
        self._shown: dict[int, tuple[Said, ui.element]] = {}
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

    def show(self, view: View) -> None:
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


def _turn(said: Said) -> ui.element:
    with box("div", "turn") as shown:
        words("div", said.user, "bubble mine")
        words("div", said.assistant or "This was not answered.", "bubble his text")
    return shown
