"""What is raised when a budget says no."""

from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.tiers import ErrorTier


class BudgetExceeded(CallboardError):
    """A call would cost more than a budget has left; `partial` is what a cut call had said."""

    code = "budget_exceeded"
    tier = ErrorTier.USER_FIXABLE

    def __init__(
        self, message: str, *, partial: str | None = None, fix: str | None = None, **context: Json
    ) -> None:
        """Take the figures as context: scope, dimension, limit, spent, reserved, wanted."""
        if partial:
            context["partial"] = partial
        super().__init__(message, fix=fix, **context)
        self.partial = partial
