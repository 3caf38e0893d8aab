"""Decisions: what waits for the user's word: drafts to keep or drop, a plan, a question."""

from collections.abc import Callable

from callboard.choreography.turn.shapes import (
    Affected,
    Gesture,
    GestureKind,
    PendingClarification,
    PendingProposal,
)
from callboard.choreography.turn.talk import Standing
from callboard.core.vocabulary import Entity
from callboard.ui.plain import box, press, words

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
        self._standing: Standing | None = None

    def build(self) -> None:
        """Make room for it."""
        self._room = box("div", "decisions", aria_live="polite")

    def show(self, standing: Standing) -> None:
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
    names = ", ".join(affected.labels) + (f" and {more} more" if more > 0 else "")
    return f"{affected.op} {affected.count} in {what}" + (f": {names}" if affected.labels else "")
