"""What can be wrong with an outline or a scene."""

from callboard.core.errors import Conflict, InvalidInput, NotFound


class SceneUnknown(NotFound):
    """A scene was named that is neither planned nor written."""

    code = "scene_unknown"


class VersionUnknown(NotFound):
    """A version was named that the archive does not hold."""

    code = "version_unknown"


class NothingToUndo(Conflict):
    """There is no change left that could be taken back."""

    code = "nothing_to_undo"


class OutlineInvalid(InvalidInput):
    """An outline cannot be taken as it is; every fault is named."""

    code = "outline_invalid"


class StatusRefused(Conflict):
    """A scene cannot go from where it stands to where it was sent."""

    code = "scene_status_refused"
