"""Thinking: a request becomes a plan of steps in groups, checked before anything runs."""

from callboard.choreography.turn.thinking.planning import (
    Continued,
    PlanUnusable,
    make_plan,
    plan_schema,
    read_plan,
    read_step,
    step_schema,
)
from callboard.choreography.turn.thinking.proposing import must_confirm_rows, must_propose
from callboard.choreography.turn.thinking.references import (
    needed_steps,
    rewrite_strings,
    step_named,
)
from callboard.choreography.turn.thinking.validation import Checked, check_plan

__all__ = [
    "Checked",
    "Continued",
    "PlanUnusable",
    "check_plan",
    "make_plan",
    "must_confirm_rows",
    "must_propose",
    "needed_steps",
    "plan_schema",
    "read_plan",
    "read_step",
    "rewrite_strings",
    "step_named",
    "step_schema",
]
