"""Accounts: what calls cost, who pays, what is left, and the record of it all."""

from callboard.models.accounts.accounts import Accounts
from callboard.models.accounts.amounts import Amounts, Dimension, Limits, Prices
from callboard.models.accounts.budget_gate import BudgetExceeded, BudgetGate
from callboard.models.accounts.budgets import (
    Budget,
    clear_limits,
    limits_from,
    list_budgets,
    load_budgets,
    plans_from,
    set_limits,
    subscriptions_from,
)
from callboard.models.accounts.calls import CallOutcome, CallRecord, list_calls
from callboard.models.accounts.meter_gate import RESERVATION, MeterGate
from callboard.models.accounts.reports import (
    BREAKDOWNS,
    EstimatorLine,
    Totals,
    UsageFilter,
    UsageLine,
    UsageReport,
    calls_matching,
    estimator_report,
    usage_report,
)
from callboard.models.accounts.scopes import Scope, ScopeKind, Spender
from callboard.models.accounts.subscriptions import (
    Subscription,
    UsageStatus,
    fair_limits,
    fair_share,
    status_of,
)

__all__ = [
    "BREAKDOWNS",
    "RESERVATION",
    "Accounts",
    "Amounts",
    "Budget",
    "BudgetExceeded",
    "BudgetGate",
    "CallOutcome",
    "CallRecord",
    "Dimension",
    "EstimatorLine",
    "Limits",
    "MeterGate",
    "Prices",
    "Scope",
    "ScopeKind",
    "Spender",
    "Subscription",
    "Totals",
    "UsageFilter",
    "UsageLine",
    "UsageReport",
    "UsageStatus",
    "calls_matching",
    "clear_limits",
    "estimator_report",
    "fair_limits",
    "fair_share",
    "limits_from",
    "list_budgets",
    "list_calls",
    "load_budgets",
    "plans_from",
    "set_limits",
    "status_of",
    "subscriptions_from",
    "usage_report",
]
