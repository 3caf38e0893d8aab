"""What can be wrong with a Story Bible, said so that the writer can mend it."""

from callboard.core.errors import Conflict, InvalidInput, NotFound


class UnknownTemplate(NotFound):
    """There is no template of that name."""

    code = "unknown_template"


class TemplateRefused(InvalidInput):
    """A field that was to be written does not fit its template."""

    code = "template_invalid"


class ChecksFailed(InvalidInput):
    """What was to be written fails checks, and the writer wanted it written only if it does not."""

    code = "checks_failed"


class TemplateUnreadable(Conflict):
    """The file of a template cannot be read, so nothing is written over it."""

    code = "template_unreadable"


class NothingToAccept(Conflict):
    """There is no failed judgement the writer could accept."""

    code = "nothing_to_accept"
