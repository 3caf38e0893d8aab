"""Tool calls by agents: a strict protocol, rights that the server holds, findings within limits."""

from callboard.choreography.agent_calls.errand import (
    Errand,
    ErrandPrompts,
    Gathered,
    execute_for,
    gathered_from_json,
    gathered_to_json,
    run_errand,
    word_for_word,
)
from callboard.choreography.agent_calls.findings import ByteLimits, ToolFinding, fit_bytes, lay_out
from callboard.choreography.agent_calls.protocol import CallCode, Refused, read_call
from callboard.choreography.agent_calls.rights import (
    ToolPolicy,
    check_policy,
    needs_tool,
    read_flag,
    rights_of,
)

__all__ = [
    "ByteLimits",
    "CallCode",
    "Errand",
    "ErrandPrompts",
    "Gathered",
    "Refused",
    "ToolFinding",
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
