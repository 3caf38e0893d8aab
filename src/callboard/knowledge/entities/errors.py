"""What can go wrong with entities. Nothing has changed when one of these is raised."""

from callboard.core.errors import Conflict, NotFound


class IllegalTransition(Conflict):
    """A thing was to go into a state it cannot go into from where it is."""

    code = "illegal_transition"


class UnknownEntity(NotFound):
    """No such thing is being talked about."""

    code = "unknown_entity"
