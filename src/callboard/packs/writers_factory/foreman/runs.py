"""The run of the Foreman: the chat."""

from typing import Final

from callboard.packs.writers_factory.foreman.chat import ForemanChat
from callboard.packs.writers_factory.foreman.survey import foreman_of

chat: Final = ForemanChat(foreman_of)
