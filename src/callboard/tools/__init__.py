"""Tools, permissions and receipts: what may be run, by whom, and the signed record of it."""

from callboard.tools.audit import (
    Flaw,
    ReceiptDraft,
    Signer,
    Verification,
    is_signature_valid,
    list_receipts,
    read_receipt,
    receipt_to_json,
    seal,
    sync_mirror,
    verify,
)
from callboard.tools.errors import (
    CallRefused,
    FileChanged,
    FileMissing,
    InvalidArgs,
    InvalidTool,
    NonceInvalid,
    OutputTooLarge,
    PathOutsideProject,
    SecretUnusable,
    ToolCancelled,
    ToolError,
    ToolTimeout,
    TooManyFiles,
    UnknownTool,
    Unreadable,
)
from callboard.tools.executor import Execution, Executor, ToolCall
from callboard.tools.files import ListedFile, ProjectFiles, TextFile, WrittenFile
from callboard.tools.kept import Kept
from callboard.tools.nonces import Nonces, NonceScope
from callboard.tools.policy import Policy
from callboard.tools.registry import ToolRegistry, ToolSource
from callboard.tools.result import DryRun, FileRef, Probe, ToolResult
from callboard.tools.service import Ran, ToolService
from callboard.tools.summary import SUMMARY_BUDGET_CHARS, fit_summary
from callboard.tools.threads import in_thread, off_loop
from callboard.tools.tool import Tool, ToolArgs, ToolContext, tool

__all__ = [
    "SUMMARY_BUDGET_CHARS",
    "CallRefused",
    "DryRun",
    "Execution",
    "Executor",
    "FileChanged",
    "FileMissing",
    "FileRef",
    "Flaw",
    "InvalidArgs",
    "InvalidTool",
    "Kept",
    "ListedFile",
    "NonceInvalid",
    "NonceScope",
    "Nonces",
    "OutputTooLarge",
    "PathOutsideProject",
    "Policy",
    "Probe",
    "ProjectFiles",
    "Ran",
    "ReceiptDraft",
    "SecretUnusable",
    "Signer",
    "TextFile",
    "TooManyFiles",
    "Tool",
    "ToolArgs",
    "ToolCall",
    "ToolCancelled",
    "ToolContext",
    "ToolError",
    "ToolRegistry",
    "ToolResult",
    "ToolService",
    "ToolSource",
    "ToolTimeout",
    "UnknownTool",
    "Unreadable",
    "Verification",
    "WrittenFile",
    "fit_summary",
    "in_thread",
    "is_signature_valid",
    "list_receipts",
    "off_loop",
    "read_receipt",
    "receipt_to_json",
    "seal",
    "sync_mirror",
    "tool",
    "verify",
]
