"""Tool calls by agents: a strict protocol, rights that the server holds, findings within limits."""

from callboard.choreography.calling.errand import (
    Errand,
    ErrandPrompts,
    Gathered,
    execute_for,
    gathered_from_json,
    gathered_to_json,
    run_errand,
    word_for_word,
)
from callboard.choreography.calling.findings import ByteLimits, Finding, fit_bytes, lay_out
from callboard.choreography.calling.protocol import CallCode, Refused, read_call
from callboard.choreography.calling.required import needs_tool
from callboard.choreography.calling.rights import ToolPolicy, check_policy, read_flag, rights_of

__all__ = [
    "ByteLimits",
    "CallCode",
    "Errand",
    "ErrandPrompts",
    "Finding",
    "Gathered",
    "Refused",
    "ToolPolicy",
    "check_policy",
    "execute_for",
    "fit_bytes",
    "gathered_from_json",
    "gathered_to_json",
    "lay_out",
    "needs_tool",
    "read_call",
    "read_flag",
    "rights_of",
    "run_errand",
    "word_for_word",
]
