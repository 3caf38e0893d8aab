"""What the tests of evidence share: the pack's rules and a small library."""

from importlib.resources import files
from pathlib import Path

import pytest
from evidence_library import Library

from callboard.replies.evidence import EvidenceRules


@pytest.fixture
def library() -> Library:
    """Return a project with a scene, a card, an outline, a slot and some receipts."""
    return Library()


@pytest.fixture(scope="session")
def rules() -> EvidenceRules:
    """Return the rules as the Control Room ships them."""
    return EvidenceRules.load(Path(str(files("callboard.packs.control_room") / "evidence.yaml")))
