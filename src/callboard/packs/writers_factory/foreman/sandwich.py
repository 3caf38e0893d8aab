"""The seven layers of a Foreman prompt, laid out for one model, and what gives way first.

The order is fixed: identity, process map, rules of the mode, state, protocols, conversation,
message. The runtime's assembler does the rest. Nothing here asks a model.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from callboard.choreography.conversation import Listener
from callboard.core.vocabulary import Content, ModelTier, Trust
from callboard.models import Catalog
from callboard.packs.writers_factory.foreman.state import (
    BARE,
    FEWER_ENTRIES,
    NO_ALERTS,
    SHORT_SCAFFOLD,
    VOICE_SUMMARY,
    ForemanState,
    StateMarkup,
)
from callboard.packs.writers_factory.foreman.texts import PromptTexts
from callboard.prompts import (
    Layer,
    PromptRequest,
    Reduction,
    ReminderFacts,
    TierBudget,
    TokenCounter,
    TrimOrder,
    Turn,
    load_layer_budgets,
    reminders,
)

STATE: Final = "session_state"
MAP: Final = "process_map"
RULES: Final = "mode_rules"
GUARDRAILS: Final = "guardrails"
REMINDERS: Final = "reminders"
_SUMMARY: Final = "summary"

_GIVES_WAY: Final = (
    "history",
    f"{STATE}/{FEWER_ENTRIES}",
    f"{STATE}/{SHORT_SCAFFOLD}",
    f"{STATE}/{VOICE_SUMMARY}",
    f"{STATE}/{NO_ALERTS}",
    f"{MAP}/{_SUMMARY}",
    GUARDRAILS,
    f"{STATE}/{BARE}",
    MAP,
)


BUDGETS_FILE: Final = Path(__file__).parents[1] / "prompts" / "budgets.yaml"


def layer_budgets() -> dict[ModelTier, TierBudget]:
    """Return what the layers of a Foreman prompt may take, by tier."""
    return load_layer_budgets(BUDGETS_FILE)


@dataclass(frozen=True, slots=True)
class TurnText:
    """What one turn says: the message, and the conversation before it."""

    message: Content
    turns: tuple[Turn, ...] = ()
    asks_for_thinking: bool = True


@dataclass(frozen=True)
class Sandwich:
    """Lays prompts out; holds nothing but where its texts come from."""

    texts: PromptTexts
    catalog: Catalog
    budgets: dict[ModelTier, TierBudget]
    counter: TokenCounter
    markup: StateMarkup = field(init=False)

    def __post_init__(self) -> None:
        """Write states with the same counter."""
        object.__setattr__(self, "markup", StateMarkup(self.counter))

    def compose(self, state: ForemanState, text: TurnText, listener: Listener) -> PromptRequest:
        """Return the prompt of one turn for the model that will read it."""
        tier, mode = listener.tier, state.mode
        budget = self.budgets[tier]
        layers = (
            self._layer("identity", self.texts.identity(tier), budget),
            self._map(tier, budget),
            self._layer(RULES, self.texts.mode_rules(mode, tier, state.rules), budget),
            Layer(GUARDRAILS, self.texts.guardrails(mode, tier), stable=True),
            Layer(
                STATE,
                self.markup.content(state, tier),
                self.markup.budget(state, tier, budget.layers[STATE]),
                pinned=True,
                reductions=self.markup.reductions(state, tier),
            ),
            self._layer("protocols", self.texts.protocols(tier), budget),
            Layer(REMINDERS, self._reminders(state, text, listener), pinned=True, stable=True),
        )
        return PromptRequest(
            layers=layers,
            message=text.message,
            history=budget.limit_history(text.turns),
            limit_tokens=budget.limit_tokens(listener.window_tokens),
            trim_order=_GIVES_WAY,
            order=TrimOrder.AS_GIVEN,
            message_budget_tokens=budget.message,
            model_id=listener.model,
            tier=tier,
        )

    def _layer(self, name: str, content: Content, budget: TierBudget) -> Layer:
        return Layer(name, content, budget.layers[name], pinned=True, stable=True)

    def _map(self, tier: ModelTier, budget: TierBudget) -> Layer:
        """Return the process map; below a tier that has one, it is left out."""
        tokens = budget.layers[MAP]
        empty = Content("", MAP, Trust.TRUSTED)

        def short() -> Content:
            return self.texts.process_map(ModelTier.MEDIUM) if tokens else empty

        whole = self.texts.process_map(tier) if tokens else empty
        return Layer(MAP, whole, tokens, stable=True, reductions=(Reduction(_SUMMARY, short),))

    def _reminders(self, state: ForemanState, text: TurnText, listener: Listener) -> Content:
        facts = self.catalog.facts(listener.model)
        permitted = [spec.name for spec in self.texts.catalogue.permitted(state.mode)]
        return reminders(
            self.texts.registry,
            ReminderFacts(
                listener.model,
                facts.xml_reliability.value,
                facts.instruction_following.value,
            ),
            permitted_actions=permitted,
            thinking=text.asks_for_thinking,
        )
