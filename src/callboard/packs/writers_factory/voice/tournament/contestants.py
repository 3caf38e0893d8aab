"""Contestants: which models take part, which cannot and why, and who judges whom."""

from collections.abc import Sequence
from dataclasses import dataclass

from callboard.packs.writers_factory.model import JUDGE, WRITER
from callboard.packs.writers_factory.workspace import Workspace, model_of


@dataclass(frozen=True, slots=True)
class Contestant:
    """A model that was named for a tournament; `problem` and `fix` say why it cannot take part."""

    model: str
    problem: str = ""
    fix: str = ""

    @property
    def is_usable(self) -> bool:
        """Whether it can be asked, as far as is known without asking it."""
        return not self.problem


def check_contestants(workspace: Workspace, models: Sequence[str]) -> tuple[Contestant, ...]:
    """Look at every model that is to take part, before anybody is asked anything."""
    found: list[Contestant] = []
    for model in dict.fromkeys(models):
        error = workspace.studio.why_unreachable(model)
        if error is None:
            found.append(Contestant(model))
        else:
            found.append(Contestant(model, error.message, error.fix or ""))
    return tuple(found)


def default_writer(workspace: Workspace) -> str:
    """Return the model that writes prose when nobody names one."""
    return model_of(workspace, WRITER)


def default_judge(workspace: Workspace) -> str:
    """Return the model that judges when nobody names one."""
    return model_of(workspace, JUDGE)


def judge_for(author: str, judge: str, usable: Sequence[str]) -> str:
    """Return who judges what a model wrote: the judge, else another contestant, else itself."""
    return next((model for model in (judge, *usable) if model != author), author)
