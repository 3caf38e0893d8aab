"""What can be wrong between a plan and an accepted scene."""

from callboard.core.errors import Conflict, InvalidInput, NotFound


class ScaffoldUnknown(NotFound):
    """A scaffold was named that nobody made."""

    code = "scaffold_unknown"


class ScaffoldInvalid(InvalidInput):
    """A scaffold says something the story does not allow; every fault is named."""

    code = "scaffold_invalid"


class ScaffoldNotApproved(Conflict):
    """A scene cannot be written from a scaffold the writer has not approved."""

    code = "scaffold_not_approved"


class VariantUnknown(NotFound):
    """A variant was named that nobody wrote."""

    code = "variant_unknown"


class VoiceUnlocked(Conflict):
    """Scenes wait for the voice, unless the writer passed the gate without it."""

    code = "voice_unlocked"


class HybridInvalid(InvalidInput):
    """The parts of a hybrid cannot be put together as they are named."""

    code = "hybrid_invalid"


class NothingToAccept(Conflict):
    """A scene without a chosen text cannot be accepted."""

    code = "nothing_to_accept"


class NoOutlineProposed(Conflict):
    """There is no outline the writer could approve."""

    code = "no_outline_proposed"


class NoBeats(Conflict):
    """Scenes cannot be planned without a beat sheet."""

    code = "no_beats"
