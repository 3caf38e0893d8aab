"""Events keep their meaning through the store, older and newer ones too."""

import json
from dataclasses import MISSING, fields
from typing import Any, get_args

import pytest

from callboard.core.events import Emitted, Event, EventBody, body_from_json, body_to_json
from callboard.core.run_events import (
    QuestionAnswered,
    QuestionAsked,
    RunChanged,
    StepDone,
    StepFailed,
    StepStarted,
)

BODY_TYPES: tuple[type[EventBody], ...] = get_args(EventBody)
EXAMPLES: dict[Any, Any] = {
    str: "some text",
    int: 7,
    bool: True,
    float: 0.25,
    int | None: 3,
    float | None: 0.5,
    dict[str, Any]: {"code": "x", "nested": {"list": [1, None]}},
    dict[str, Any] | None: {"code": "x"},
    str | None: "another",
    dict[str, str]: {"1": "pending", "2": "blocked"},
    tuple[str, ...]: ("yes", "no"),
    list[str]: ["one", "two"],
    Any: {"any": [1, "two"]},
}


def full(body_type: type[EventBody]) -> EventBody:
    return body_type(**{each.name: EXAMPLES[each.type] for each in fields(body_type)})


def smallest(body_type: type[EventBody]) -> EventBody:
    return body_type(
        **{
            each.name: EXAMPLES[each.type]
            for each in fields(body_type)
            if each.default is MISSING and each.default_factory is MISSING
        }
    )


def stored_and_read(body: EventBody) -> EventBody:
    return body_from_json(body.type, json.loads(json.dumps(body_to_json(body))))


@pytest.mark.parametrize("body_type", BODY_TYPES)
def test_every_event_survives_the_store(body_type: type[EventBody]) -> None:
    assert stored_and_read(full(body_type)) == full(body_type)
    assert stored_and_read(smallest(body_type)) == smallest(body_type)


@pytest.mark.parametrize(
    "body",
    [
        QuestionAnswered("q", "", "user"),
        QuestionAnswered("q", {}, "user"),
        QuestionAnswered("q", None, "user"),
        QuestionAnswered("q", False, "user"),
        QuestionAnswered("q", 0, "user"),
        Emitted("tick", {}),
        Emitted("tick", ""),
        Emitted("tick", []),
        Emitted("", None),
        StepDone("work", 0),
        StepFailed("work", 0, {}),
        RunChanged(""),
    ],
    ids=repr,
)
def test_empty_values_are_values(body: EventBody) -> None:
    assert stored_and_read(body) == body


def test_every_event_has_its_own_stored_name() -> None:
    names = [body_type.type for body_type in BODY_TYPES]
    assert len(set(names)) == len(names) > 10


def test_defaults_are_not_stored() -> None:
    assert body_to_json(StepDone("tool", 3)) == {"kind": "tool", "duration_ms": 3}
    assert body_to_json(QuestionAsked("q", "Go?")) == {"question_id": "q", "text": "Go?"}


def test_an_event_of_a_newer_callboard_is_kept_as_it_is() -> None:
    body = body_from_json("moon.rose", {"phase": "full"})
    assert body == Emitted(name="moon.rose", data={"phase": "full"})


def test_a_field_of_a_newer_callboard_is_passed_over() -> None:
    assert body_from_json("step.started", {"kind": "tool", "effect": "pure", "mood": 1}) == (
        StepStarted("tool", "pure")
    )


def test_an_event_that_lacks_a_field_is_kept_as_it_is() -> None:
    assert body_from_json("step.started", {"kind": "tool"}) == (
        Emitted(name="step.started", data={"kind": "tool"})
    )


def test_the_streamed_shape_names_who_and_where() -> None:
    event = Event(3, 1_000, StepStarted("tool", "once"), "sess_1", "run_1", "b/draft")
    assert event.to_json() == {
        "seq": 3,
        "at": 1_000,
        "type": "step.started",
        "session_id": "sess_1",
        "run_id": "run_1",
        "step_key": "b/draft",
        "data": {"kind": "tool", "effect": "once"},
    }
