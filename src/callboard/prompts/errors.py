"""What can go wrong between a template file and a finished prompt."""

from callboard.core.errors import CallboardError, InvalidInput, NotFound


class TemplateNotFound(NotFound):
    """No layer holds a template of that name."""

    code = "template_not_found"


class TemplateInvalid(InvalidInput):
    """A template file, its name or its index cannot be used as it stands."""

    code = "template_invalid"


class UnknownPlaceholder(InvalidInput):
    """A template asks for a value nobody gave."""

    code = "unknown_placeholder"


class StateInvalid(InvalidInput):
    """Data that cannot become well-formed state."""

    code = "state_invalid"


class AssemblyInvalid(InvalidInput):
    """Layers, budgets or a trimming order that contradict each other."""

    code = "assembly_invalid"


class PromptTooLarge(CallboardError):
    """Everything that may be trimmed is trimmed and the prompt still does not fit."""

    code = "prompt_too_large"
