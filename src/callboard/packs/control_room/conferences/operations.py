"""What a user does with conferences besides talking in them."""

from callboard.choreography.agent_calls import ToolPolicy
from callboard.choreography.conference import Conferences
from callboard.operations import operation


@operation(tell=lambda conference_id: f"conference {conference_id}")
async def open_conference(
    conferences: Conferences, agents: list[str], policy: ToolPolicy, session_id: str
) -> str:
    """Open a conference; rounds are held in it one after the other."""
    opened = await conferences.open(agents=agents, policy=policy, session_id=session_id)
    return opened.conference_id
