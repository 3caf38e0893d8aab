"""Engine: an export of the book played by an Ink engine that is not ours."""

from importlib import import_module
from typing import Any

from callboard.core.errors import CallboardError
from callboard.packs.questfoundry.playtest.transcript import Sight, sight


class NoEngine(CallboardError):
    """The interpreter of an export is not installed."""

    code = "quest_no_engine"


class InkPlayer:
    """Plays Ink JSON in the engine `bink`."""

    def __init__(self, story: bytes) -> None:
        """Take the compiled story."""
        try:
            engine: Any = import_module("bink.story")
        except ImportError as error:
            raise NoEngine("The Ink engine is not there", fix="pip install bink") from error
        self.story: Any = engine.Story(story.decode())

    def begin(self) -> Sight:
        """Start from the beginning."""
        self.story.reset_state()
        return self._seen()

    def choose(self, number: int) -> Sight:
        """Take a choice of the engine."""
        self.story.choose_choice_index(number)
        return self._seen()

    def _seen(self) -> Sight:
        text = self.story.continue_maximally() if self.story.can_continue() else ""
        return sight(str(text).split("\n"), [str(each) for each in self.story.choices])
