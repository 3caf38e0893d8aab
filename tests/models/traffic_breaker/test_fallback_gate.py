"""Another model answers: after which failures, in which order, and how the switch is told."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest
from breaker_props import HandClock, Notices, ask, chunks_of, last_reply

from callboard.core.classify import Classifier
from callboard.core.errors import ErrorTier, InvalidInput, ProviderError
from callboard.core.events import ModelSwitched
from callboard.core.settings import Settings, resolve
from callboard.core.settings.layers import LayerName, SettingsLayer
from callboard.models import (
    Catalog,
    Chunk,
    CircuitOpen,
    DirectGate,
    Failure,
    Line,
    MissingKey,
    ModelReply,
    ModelRequest,
    PromptTooLong,
    Restarted,
    Script,
    TextChunk,
    UnknownModel,
    WrapperGate,
)
from callboard.models.traffic.fallback import DEFAULT_REASONS, FallbackGate, FallbackRules

pytestmark = pytest.mark.anyio

RULES = FallbackRules({"acme:big": ("spare:big", "last:resort")})


def falling(notices: Notices, rules: FallbackRules = RULES, **scripts: Any) -> FallbackGate:
    return FallbackGate(DirectGate(scripts), rules, notify=notices)


class Failing(WrapperGate):
    """Fails for one provider with a given error and passes everything else on."""

    def __init__(self, error: Exception, *lines: str) -> None:
        self.script = Script(*lines)
        super().__init__(DirectGate({"spare": self.script}))
        self.error = error

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        if request.model.startswith("acme"):
            raise self.error
        async with aclosing(self.inner.stream(request)) as chunks:
            async for chunk in chunks:
                yield chunk


async def test_the_next_model_answers_and_the_switch_is_told(notices: Notices) -> None:
    gate = falling(notices, acme=Script(Line(fail=Failure(503, "gone"))), spare=Script("calm"))
    request = ask("acme:big", run_id="run_1")
    reply = await gate.complete(request)
    assert (reply.text, reply.model, reply.switched_from) == ("calm", "spare:big", "acme:big")
    ((told, about),) = notices.told
    assert isinstance(told, ModelSwitched)
    assert (told.switched_from, told.model, told.reason) == ("acme:big", "spare:big", "degrading")
    assert "gone" in told.message
    assert about == request
    assert ModelReply.from_json(reply.to_json()).switched_from == "acme:big"


async def test_the_chain_is_followed_to_its_end(notices: Notices) -> None:
    down = Line(fail=Failure(500), times=None)
    gate = falling(notices, acme=Script(down), spare=Script(down), last=Script("phew"))
    reply = await gate.complete(ask("acme:big"))
    assert (reply.text, reply.switched_from) == ("phew", "acme:big")
    assert [each.model for each in notices.of(ModelSwitched)] == ["spare:big", "last:resort"]


async def test_a_model_that_answers_is_not_switched(notices: Notices) -> None:
    spare = Script("never")
    reply = await falling(notices, acme=Script("calm"), spare=spare).complete(ask("acme:big"))
    assert (reply.text, reply.switched_from) == ("calm", None)
    assert (spare.calls, notices.told) == ([], [])


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (CircuitOpen("left alone"), "circuit_open"),
        (MissingKey("no key", variable="ACME_KEY"), "missing_key"),
        (ProviderError("HTTP 500", status=500), "degrading"),
        (ProviderError("HTTP 429", status=429), "rate_limit"),
        (ProviderError("reset", tier=ErrorTier.TRANSIENT), "transient"),
    ],
)
async def test_what_makes_another_model_answer_can_be_chosen(
    notices: Notices, error: ProviderError, reason: str
) -> None:
    chain = {"acme:big": ("spare:big",)}
    gate = FallbackGate(Failing(error, "calm"), FallbackRules(chain), notify=notices)
    assert (await gate.complete(ask("acme:big"))).text == "calm"
    assert [each.reason for each in notices.of(ModelSwitched)] == [reason]
    without = FallbackRules(chain, reasons=DEFAULT_REASONS - {reason})
    strict = FallbackGate(Failing(error, "never"), without)
    with pytest.raises(type(error)):
        await strict.complete(ask("acme:big"))


@pytest.mark.parametrize(
    "error",
    [
        ProviderError("HTTP 400: bad request", status=400, tier=ErrorTier.PERMANENT),
        PromptTooLong("too long"),
        UnknownModel("who?"),
        InvalidInput("no"),
    ],
)
async def test_a_request_that_is_wrong_itself_is_not_handed_around(
    notices: Notices, error: Exception
) -> None:
    rules = FallbackRules(
        {"acme:big": ("spare:big",)}, reasons=DEFAULT_REASONS | {"user_fixable", "permanent"}
    )
    inner = Failing(error, "never")
    with pytest.raises(type(error)) as caught:
        await FallbackGate(inner, rules, notify=notices).complete(ask("acme:big"))
    assert caught.value is error
    assert (inner.script.calls, notices.told) == ([], [])


async def test_spent_credit_switches_only_if_the_user_wants_it(notices: Notices) -> None:
    broke = ProviderError("no credit", tier=ErrorTier.USER_FIXABLE)
    chain = {"acme": ("spare:big",)}
    with pytest.raises(ProviderError):
        await FallbackGate(Failing(broke, "x"), FallbackRules(chain)).complete(ask("acme:big"))
    rules = FallbackRules(chain, reasons=DEFAULT_REASONS | {"user_fixable"})
    reply = await FallbackGate(Failing(broke, "calm"), rules).complete(ask("acme:big"))
    assert reply.switched_from == "acme:big"


async def test_half_a_text_is_voided_and_kept_in_the_notice(notices: Notices) -> None:
    gate = falling(
        notices,
        acme=Script(Line("The sea is wild", drop_after=10)),
        spare=Script("The sea is calm"),
    )
    chunks = await chunks_of(gate, ask("acme:big"))
    kinds = [type(each).__name__ for each in chunks]
    assert kinds == ["TextChunk", "Restarted", "Working", "TextChunk", "Finished"]
    voided = next(each for each in chunks if isinstance(each, Restarted))
    assert "'spare:big' is asked instead" in voided.reason
    assert last_reply(chunks).text == "The sea is calm"
    assert notices.of(ModelSwitched)[0].partial == "The sea is"


async def test_when_all_fail_the_error_is_that_of_the_model_that_was_asked(
    notices: Notices,
) -> None:
    gate = falling(
        notices,
        acme=Script(Line("The sea", drop_after=7)),
        spare=Script(Line(fail=Failure(401))),
        last=Script(Line(fail=Failure(400))),
    )
    with pytest.raises(ProviderError) as caught:
        await gate.complete(ask("acme:big"))
    error = caught.value
    assert error.context["model"] == "acme:big"
    assert error.partial == "The sea"
    tried = [(each["model"], each["code"]) for each in error.context["also_tried"]]
    assert tried == [("spare:big", "provider_error"), ("last:resort", "provider_error")]
    assert "spare:big" in (error.fix or "")


async def test_the_first_error_keeps_its_tier_whatever_the_stand_ins_say(
    notices: Notices,
) -> None:
    gate = falling(
        notices,
        acme=Script(Line("", drop_after=0)),
        spare=Script(Line(fail=Failure(429))),
        last=Script(Line(fail=Failure(503))),
    )
    with pytest.raises(ProviderError) as caught:
        await gate.complete(ask("acme:big"))
    assert Classifier().tier_of(caught.value) is ErrorTier.TRANSIENT


async def test_a_stand_in_that_does_not_exist_is_passed_over(notices: Notices) -> None:
    down = Line(fail=Failure(500))
    gate = falling(notices, acme=Script(down), last=Script("phew"))
    assert (await gate.complete(ask("acme:big"))).text == "phew"


async def test_the_total_time_covers_the_whole_chain(clock: HandClock, notices: Notices) -> None:
    class Slow(WrapperGate):
        seen: list[tuple[str, float | None]]

        async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
            self.seen.append((request.model, request.timeout_seconds))
            clock.advance(6)
            raise ProviderError("HTTP 500", status=500)
            yield TextChunk("")

    slow = Slow(DirectGate({}))
    slow.seen = []
    gate = FallbackGate(slow, RULES, clock=clock, notify=notices)
    with pytest.raises(ProviderError):
        await gate.complete(ask("acme:big", timeout_seconds=10))
    assert slow.seen == [("acme:big", 10), ("spare:big", 4.0)]


def test_the_nearest_chain_wins_and_nobody_is_asked_twice() -> None:
    rules = FallbackRules(
        {
            "acme:big": ("acme:big", "spare:big", "local", "spare:big"),
            "acme": ("spare:any",),
            "full": ("spare:full",),
        },
        default=("local",),
    )
    assert rules.stand_ins("acme:big", "full") == ("spare:big", "local")
    assert rules.stand_ins("acme:small", "full") == ("spare:any",)
    assert rules.stand_ins("other:x", "full") == ("spare:full",)
    assert rules.stand_ins("other:x", "minimal") == ("local",)
    assert rules.stand_ins("local", "minimal") == ()


async def test_a_chain_may_be_named_by_tier(notices: Notices) -> None:
    catalog = Catalog({"acme:big": {"tier": "full"}})
    gate = FallbackGate(
        DirectGate({"acme": Script(Line(fail=Failure(500))), "spare": Script("calm")}),
        FallbackRules({"full": ("spare:big",)}),
        tier_of=lambda model: catalog.facts(model).tier.value,
    )
    assert (await gate.complete(ask("acme:big"))).switched_from == "acme:big"


def test_chains_come_from_the_settings() -> None:
    assert set(Settings().models.fallback_on) == DEFAULT_REASONS
    data = {
        "models": {
            "fallbacks": {"openai:gpt-4o": ["anthropic:claude-sonnet-4", "local"], "bad": "x"},
            "fallback_default": ["local"],
            "fallback_on": ["circuit_open", "user_fixable"],
        }
    }
    loaded = resolve([SettingsLayer(LayerName.USER, "mine.yaml", data)])
    models = loaded.settings.models
    assert models.fallbacks == {"openai:gpt-4o": ("anthropic:claude-sonnet-4", "local")}
    assert models.fallback_default == ("local",)
    assert models.fallback_on == ("circuit_open", "user_fixable")
    assert [each.key for each in loaded.warnings] == ["models.fallbacks.bad"]
