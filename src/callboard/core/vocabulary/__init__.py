"""The words of the house: one word, one meaning, one module each."""

from callboard.core.vocabulary.agent import Agent, ModelTier, RoleContract
from callboard.core.vocabulary.content import Content, Trust
from callboard.core.vocabulary.entity import (
    BatchKind,
    Entity,
    EntityRef,
    EntitySource,
    EntityState,
)
from callboard.core.vocabulary.fact import Fact, Hardness
from callboard.core.vocabulary.issue import (
    Issue,
    IssueDraft,
    IssueKind,
    IssuePriority,
    IssueSource,
    IssueStatus,
)
from callboard.core.vocabulary.plan import Plan, PlanState, Task, TaskState
from callboard.core.vocabulary.question import Answer, Question
from callboard.core.vocabulary.receipt import Receipt, ReceiptOutcome
from callboard.core.vocabulary.run import TERMINAL_STATES, RunRecord, RunState
from callboard.core.vocabulary.session import SessionRecord, SessionState
from callboard.core.vocabulary.signal import SignalKind, SignalRecord
from callboard.core.vocabulary.slot import Slot, SlotType
from callboard.core.vocabulary.step import Effect, StepKind, StepRecord, StepState

__all__ = [
    "TERMINAL_STATES",
    "Agent",
    "Answer",
    "BatchKind",
    "Content",
    "Effect",
    "Entity",
    "EntityRef",
    "EntitySource",
    "EntityState",
    "Fact",
    "Hardness",
    "Issue",
    "IssueDraft",
    "IssueKind",
    "IssuePriority",
    "IssueSource",
    "IssueStatus",
    "ModelTier",
    "Plan",
    "PlanState",
    "Question",
    "Receipt",
    "ReceiptOutcome",
    "RoleContract",
    "RunRecord",
    "RunState",
    "SessionRecord",
    "SessionState",
    "SignalKind",
    "SignalRecord",
    "Slot",
    "SlotType",
    "StepKind",
    "StepRecord",
    "StepState",
    "Task",
    "TaskState",
    "Trust",
]
