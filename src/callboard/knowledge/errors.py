"""What can be wrong with something that is to be known."""

from callboard.core.errors import CallboardError, Conflict, InvalidInput


class UnknownType(InvalidInput):
    """A node or an edge has a type its domain does not have."""

    code = "unknown_type"


class UnknownNode(InvalidInput):
    """An edge starts or ends at a node that is not there."""

    code = "unknown_node"


class TypeChanged(Conflict):
    """A node is known under another type."""

    code = "type_changed"


class EmbeddingFailed(CallboardError):
    """A text could not be turned into a vector; nothing was stored."""

    code = "embedding_failed"


class DimensionsDiffer(InvalidInput):
    """A vector has another length than those it is compared with."""

    code = "dimensions_differ"


class WeightsMissing(CallboardError):
    """The files of the bundled embedding model are not there."""

    code = "weights_missing"
