"""The settings of QuestFoundry: who decides, who is awake, what is built."""

from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from callboard.studio.settings_files import PackSection, PackSettings, PackSettingsRead

PROJECT_FILE: Final = ".callboard/questfoundry.yaml"


class ShowrunnerSettings(PackSection):
    """Who decides what comes next."""

    policy: Literal["llm", "playbook"]


class CastingSettings(PackSection):
    """Who is awake, and who is preferred."""

    awake_optional: tuple[str, ...]
    overrides: dict[str, str]
    try_small_models: bool


class HarvestSettings(PackSection):
    """How much one harvest may take up."""

    max_accept: int = Field(ge=1, le=100)


class BindingSettings(PackSection):
    """What is built if nobody says so."""

    formats: tuple[str, ...]


class ArchiveSettings(PackSection):
    """Where copies of archives go."""

    copies: tuple[str, ...]


class QuestSettings(PackSection):
    """All of them."""

    showrunner: ShowrunnerSettings
    roles: CastingSettings
    hook_harvest: HarvestSettings
    binding: BindingSettings
    archive: ArchiveSettings


_SOURCE: Final = PackSettings(QuestSettings, "callboard.packs.questfoundry", PROJECT_FILE)


def read_settings(kept: Path) -> PackSettingsRead[QuestSettings]:
    """Return the settings of a project, from where Callboard keeps its own."""
    return _SOURCE.read(kept)
