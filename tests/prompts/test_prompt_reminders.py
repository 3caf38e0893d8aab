import pytest

from callboard.prompts import (
    ReminderFacts,
    TemplateRegistry,
    bundled_layer,
    choose_reminders,
    reminders,
)

FORMAT, JSON, ONE = "reminders/reply_format", "reminders/tags_not_json", "reminders/one_action"


@pytest.mark.req("WF-57", "WF-58", "WF-G35")
@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (ReminderFacts("gpt-4o", "high", "high"), ()),
        (ReminderFacts("deepseek-chat", "medium", "medium"), (FORMAT,)),
        (ReminderFacts("llama3.2:3b", "low", "low"), (FORMAT, ONE)),
        (ReminderFacts("google/Gemini-2.0-flash", "medium", "high"), (FORMAT, JSON)),
        (ReminderFacts("gemini-x", "very_high", "high"), (JSON,)),
    ],
)
def test_reminders_follow_from_the_facts(facts: ReminderFacts, expected: tuple[str, ...]) -> None:
    assert choose_reminders(facts) == expected


@pytest.mark.req("WF-57", "WF-58", "WF-G18", "WF-G35")
def test_the_texts_say_what_they_must() -> None:
    registry = TemplateRegistry([bundled_layer()])
    weak = ReminderFacts("gemini-nano", "low", "low")
    content = reminders(registry, weak, permitted_actions=["save_decision", "open"], thinking=True)
    for word in ("<message>", "<thinking>", "<action", "No JSON", "save_decision, open"):
        assert word in content.text
    positions = [content.text.index(w) for w in ("Close every tag", "JSON object", "one action")]
    assert positions == sorted(positions)
    silent = reminders(registry, ReminderFacts("x", "high", "high"), thinking=False)
    assert "Leave out the `<thinking>`" in silent.text
    assert reminders(registry, ReminderFacts("x", "high", "high")).text == ""
