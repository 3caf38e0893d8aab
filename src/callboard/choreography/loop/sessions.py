"""Sessions of roles: what each was asked and said in one run, shown again when it is asked next.

Made from the journal by whoever replays the run; there is no second copy. The oldest exchanges
are summed up in a line each once there are more than the settings allow.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from callboard.choreography.conversation import agent_turn, user_turn
from callboard.core.words import shorten
from callboard.prompts import Turn


@dataclass(frozen=True, slots=True)
class Exchange:
    """One task and its answer."""

    step: str
    message: str
    reply: str
    made: tuple[str, ...]

    @property
    def line(self) -> str:
        """It in one line."""
        return f"- {self.step}: made {', '.join(self.made) or 'nothing that could be used'}"


@dataclass(slots=True)
class RoleSessions:
    """One session per role; a role that sleeps keeps its own."""

    most_turns: int
    most_chars: int
    exchanges: dict[str, list[Exchange]] = field(default_factory=dict[str, list[Exchange]])
    awake: list[str] = field(default_factory=list[str])

    def wake(self, role: str) -> bool:
        """Wake a role and say whether it slept; waking twice changes nothing."""
        if role in self.awake:
            return False
        self.awake.append(role)
        return True

    def sleep_all(self) -> tuple[str, ...]:
        """Let everybody sleep; what was said stays."""
        slept, self.awake = tuple(self.awake), []
        return slept

    def note(self, role: str, exchange: Exchange) -> None:
        """Remember an exchange."""
        self.exchanges.setdefault(role, []).append(exchange)

    def turns(self, role: str, heading: str) -> tuple[Turn, ...]:
        """Return what a role is shown of its session; the heading stands over what is summed up."""
        said: Sequence[Exchange] = self.exchanges.get(role, ())
        # Two turns are one exchange.
        most = max(1, self.most_turns // 2)
        old, new = said[:-most], said[-most:]
        turns: list[Turn] = []
        earlier = "".join(f"{line}\n" for line in (heading, *(each.line for each in old), ""))
        for each in new:
            opening = earlier if old and not turns else ""
            turns.append(user_turn(opening + shorten(each.message, self.most_chars)))
            turns.append(agent_turn(role, shorten(each.reply, self.most_chars)))
        return tuple(turns)
