"""The way to the models, composed of gates: from fallback through queue and budget to the ledger.

Each layer is a gate of its own; this is the only place that knows their order.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from callboard.core.classify import Classifier
from callboard.core.clock import Clock
from callboard.core.errors import CallboardError
from callboard.core.settings import LoadedSettings, Settings
from callboard.core.settings.schema import RECORD, REPLAY, SCRIPT, file_models
from callboard.core.settings.sections import QueueSettings
from callboard.core.tracing import NoTracer, Tracer
from callboard.models import (
    Catalog,
    DirectGate,
    Gate,
    LadderGate,
    LocalProvider,
    ProfileShelf,
    Provider,
    ProviderConfig,
    RemoteProvider,
    ScriptFiles,
    TimeLimits,
    fetch_weights,
    profiles_dir,
    weights_dir,
)
from callboard.models.accounts import Accounts, BudgetGate, MeterGate
from callboard.models.catalog import FileModels, sent_model
from callboard.models.credentials import Credentials, account_of
from callboard.models.errors import UnknownModel
from callboard.models.gate import Routes
from callboard.models.providers.address import locate
from callboard.models.providers.cassette import Recorder, Replayer
from callboard.models.telemetry import TelemetryGate
from callboard.models.traffic.breaker import BreakerGate
from callboard.models.traffic.fallback import FallbackGate, FallbackRules
from callboard.models.traffic.limit_state import CredentialOf, credentials_of
from callboard.models.traffic.limiter import Limiter
from callboard.models.traffic.limiter_gate import LimiterGate
from callboard.models.traffic.queue import QueueGate
from callboard.models.traffic.retry import RetryGate
from callboard.models.traffic.shared_breakers import SharedBreakers
from callboard.models.traffic.shared_pauses import SharedPauses
from callboard.models.types import Notify, say_nothing
from callboard.store.database import Database
from callboard.studio.keys import open_credentials, open_ties, provider_configs
from callboard.studio.project import Project

# Works in this process: slow is not lost there, and leaving it alone mends nothing.
_EMBEDDED: Final = frozenset(("local",))


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the gate takes from the process it works in."""

    loaded: LoadedSettings
    environment: Mapping[str, str]
    providers: Mapping[str, Provider]
    clock: Clock
    trace: Tracer = field(default_factory=NoTracer)
    # Its own keys go before the user's.
    project: Project | None = None
    # Models the user named besides those of the settings.
    named: tuple[str, ...] = ()
    # The keys of whoever works here, if they are open already.
    opened: Credentials | None = None

    @property
    def keys(self) -> Credentials:
        """The keys of the user and the project."""
        if self.opened is not None:
            return self.opened
        return open_credentials(self.settings, self.environment, project=self.project)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.loaded.settings

    @property
    def files(self) -> FileModels:
        """Which models that are files may be asked: those that the user has named."""
        named = file_models(self.loaded.own.models) | frozenset(self.named)
        return FileModels(named, replaced=self.providers)


@dataclass(frozen=True, slots=True)
class DirectWay:
    """The way straight to the providers, and which credential a request takes on it."""

    gate: Gate
    credential_of: CredentialOf


def direct_way(around: Surroundings) -> DirectWay:
    """Return the way straight to the providers, traced if anybody listens."""
    models = around.settings.models
    classifier = Classifier(around.settings.errors)
    keys = around.keys
    here = Path.cwd()
    below = () if around.project is None else (around.project.root,)
    known: dict[str, Provider] = {
        "local": LocalProvider(weights_dir(around.environment), fetch=fetch_weights),
        SCRIPT: ScriptFiles(here, below=below),
        **around.providers,
    }
    remote = RemoteProvider(
        around.environment,
        provider_configs(around.loaded),
        classifier,
        keys=keys,
        ties=open_ties(around.environment),
    )
    recorder = Recorder(
        Routes(known, remote), here, below=below, scrub=keys.scrub, classifier=classifier
    )
    all_known = {**known, RECORD: recorder, REPLAY: Replayer(here, below)}
    direct = DirectGate(
        all_known,
        fallback=remote,
        files=around.files,
        limits=TimeLimits(models.timeout_seconds, models.inactivity_timeout_seconds, _EMBEDDED),
        classifier=classifier,
        clock=around.clock,
    )
    gate = TelemetryGate(direct, around.trace) if around.trace.is_on else direct
    return DirectWay(gate, credentials_of(remote.key_of, without_key=all_known))


def why_unreachable(around: Surroundings, model: str) -> CallboardError | None:
    """Return why a model cannot be asked, as far as that is known without asking it."""
    refusal = around.files.why_not(model)
    if refusal is not None:
        return refusal
    return _why_unreachable(around, model)


def _why_unreachable(around: Surroundings, model: str) -> CallboardError | None:
    name, colon, _ = model.partition(":")
    if name in (RECORD, REPLAY):
        return None if name == REPLAY else _why_unreachable(around, sent_model(model))
    if name in {"local", SCRIPT, *around.providers}:
        return None
    if not colon:
        return UnknownModel(
            f"{model!r} names no provider",
            fix="Name provider and model, for example `openai:gpt-4o`, or use `local`.",
            model=model,
        )
    keys = around.keys
    config = provider_configs(around.loaded).get(name, ProviderConfig())
    try:
        locate(name, config, around.environment).find_key(keys, open_ties(around.environment))
    except CallboardError as error:
        return error
    return None


def plain_gate(around: Surroundings) -> Gate:
    """Return a gate without a project: structure, but no queue, budget or record."""
    return _structured(direct_way(around).gate, around, say_nothing)


def full_gate(
    around: Surroundings, database: Database, accounts: Accounts, catalog: Catalog, notify: Notify
) -> Gate:
    """Return the gate of a project, with everything a call passes on its way."""
    settings, clock = around.settings, around.clock
    classifier = Classifier(settings.errors)
    policies = settings.errors.retry.policies()
    tell_circuits = notify if settings.circuit.notify_on_state_change else say_nothing
    breakers = SharedBreakers(database, settings.circuit.rules(), clock=clock, notify=tell_circuits)
    limiter = Limiter(
        policy=settings.errors.retry.external_rate_limit,
        shared=SharedPauses(database),
        notify=notify,
        clock=clock,
    )
    way = direct_way(around)
    gate: Gate = MeterGate(way.gate, accounts)
    gate = BreakerGate(gate, breakers, classifier=classifier, clock=clock, without=_EMBEDDED)
    # Inside the retries: none is sent into a pause that another call has met meanwhile.
    gate = LimiterGate(gate, limiter, credential_of=way.credential_of)
    # Inside the retries: each attempt reserves what it may take, and gives back what it did not.
    gate = BudgetGate(gate, accounts)
    gate = RetryGate(
        gate,
        policies,
        tracker=settings.errors.tracker(),
        classifier=classifier,
        clock=clock,
        notify=notify,
    )
    gate = QueueGate(
        gate,
        queue_limits(settings.queue),
        limiter=limiter,
        credential_of=way.credential_of,
        notify=notify,
    )
    gate = _structured(gate, around, notify)
    rules = FallbackRules(
        settings.models.fallbacks,
        settings.models.fallback_default,
        frozenset(settings.models.fallback_on),
    )
    return FallbackGate(
        gate,
        rules,
        tier_of=lambda model: catalog.facts(model).tier.value,
        classifier=classifier,
        clock=clock,
        notify=notify,
    )


def queue_limits(settings: QueueSettings) -> QueueSettings:
    """Return how many calls the settings let be under way; names that share a key share slots."""
    by_account = {account_of(name): n for name, n in settings.limits_by_provider().items()}
    return settings.retuned(provider_limits=by_account)


def _structured(gate: Gate, around: Surroundings, notify: Notify) -> Gate:
    return LadderGate(
        gate,
        ProfileShelf(profiles_dir(around.environment)),
        notify=notify,
        max_questions=around.settings.structure.max_questions,
    )
