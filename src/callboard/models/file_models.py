"""FileModels: which models that are files may be asked. Holds what the user has named, and no more.

Where a name came from is forgotten long before a call is made: it may have lain in a project's
file, in a stored run or in a request. So the name itself is compared.
"""

from collections.abc import Container, Iterable

from callboard.core.settings.file_models import is_file_model
from callboard.models.errors import FileModelRefused


class FileModels:
    """The ids of files that the user has named as models, each whole and letter by letter."""

    def __init__(self, named: Iterable[str] = (), *, replaced: Container[str] = ()) -> None:
        """Take the ids; providers that code has `replaced` open no files by themselves."""
        self._named = frozenset(named)
        self._replaced = replaced

    def why_not(self, model: str) -> FileModelRefused | None:
        """Return why a model may not be asked, if so."""
        if not is_file_model(model) or model in self._named:
            return None
        if model.partition(":")[0] in self._replaced:
            return None
        return FileModelRefused(
            f"The model {model!r} is a file, and only you may name such a model: it is not taken "
            "from a project's settings, its agents.yaml, a pack's settings, a stored run or a "
            "request.",
            fix=f"If you want it, say so with `--model {model}`, in CALLBOARD_MODELS_DEFAULT or "
            "in your own config.yaml; else name another model where this one is named.",
            model=model,
        )

    def require(self, model: str) -> None:
        """Raise unless a model may be asked."""
        refusal = self.why_not(model)
        if refusal is not None:
            raise refusal
