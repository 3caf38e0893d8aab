"""Sources held in memory: what a reply in these tests may cite."""

from dataclasses import dataclass, field

from callboard.replies.evidence import SourceFile, SourceReceipt

SCENE = "Story/Scenes/SCN-03-ashes.md"
CANON = "Compendium/Characters/CHAR-Kael.md"
OUTLINE = "Story/SCN-outline.md"

SCENE_TEXT = """# Ashes

Kael turned. His eyes were *green* in the firelight, and he did not blink.
\u201cStay,\u201d Mira said; \u201cthere is nothing left\u2026 nothing at all.\u201d

The gate stood open.
"""
CANON_TEXT = "---\ntitle: Kael\n---\n\n## Looks\n\n- **Eyes**: grey as slate\n- Age: 34\n"
OUTLINE_TEXT = "# Outline\n\n## Act One\n\n### Scene 1: The Gate\n\n- Kael arrives\n"


@dataclass
class Library:
    """A small project, kept in dictionaries."""

    session_id: str = "sess_here"
    files: dict[str, SourceFile] = field(
        default_factory=lambda: {
            SCENE: SourceFile(SCENE, SCENE_TEXT, "scene"),
            CANON: SourceFile(CANON, CANON_TEXT, "canon"),
            OUTLINE: SourceFile(OUTLINE, OUTLINE_TEXT, "outline"),
        }
    )
    slots: dict[str, str] = field(
        default_factory=lambda: {"draft": "The rain had stopped by dawn."}
    )
    receipts: dict[str, SourceReceipt] = field(
        default_factory=lambda: {
            "rcpt_1": SourceReceipt("rcpt_1", "canon_checker", "sess_here"),
            "rcpt_2": SourceReceipt("rcpt_2", "outline_analyzer", "sess_here"),
            "rcpt_other": SourceReceipt("rcpt_other", "canon_checker", "sess_there"),
            "rcpt_forged": SourceReceipt(
                "rcpt_forged", "canon_checker", "sess_here", is_signature_valid=False
            ),
            "rcpt_failed": SourceReceipt(
                "rcpt_failed", "canon_checker", "sess_here", has_succeeded=False
            ),
        }
    )
    issues: set[int] = field(default_factory=lambda: {7})
    asked: list[str] = field(default_factory=list[str])

    def file(self, path: str) -> SourceFile | None:
        """Return a file and remember that it was asked for."""
        self.asked.append(path)
        return self.files.get(path)

    def slot(self, name: str) -> str | None:
        """Return a slot's text."""
        return self.slots.get(name)

    def receipt(self, receipt_id: str) -> SourceReceipt | None:
        """Return a receipt."""
        return self.receipts.get(receipt_id)

    def has_issue(self, number: int) -> bool:
        """Say whether there is such an issue."""
        return number in self.issues
