"""The kitchen's page in a real browser: what is said, pressed and shown."""

from collections.abc import Iterator

import pytest
from al_page_stage import SAY, Guest, Kitchen, kitchen_process
from playwright.sync_api import Browser, expect

from page_browser import open_browser

pytestmark = pytest.mark.req("AL-158")

PHONE = (390, 844)


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kitchen]:
    with kitchen_process(tmp_path_factory.mktemp("page") / "home") as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture(autouse=True)
def no_page_stays_open(browser: Browser) -> Iterator[None]:
    yield
    for context in browser.contexts:
        context.close()


def test_a_message_is_answered_the_panes_follow_and_a_reload_keeps_it(
    browser: Browser, kitchen: Kitchen
) -> None:
    guest = Guest.sit_down(browser, kitchen, kitchen.invite())
    expect(guest.pane("list")).to_contain_text("Nothing to buy.")
    guest.say("Add 6 eggs to my shopping list")
    expect(guest.replies()).to_contain_text(["Added eggs to the shopping list."])
    expect(guest.pane("list").locator("li")).to_have_text(["eggs6"])
    expect(guest.page.get_by_label(SAY)).to_have_value("")
    guest.page.reload()
    expect(guest.replies()).to_contain_text(["Added eggs to the shopping list."])
    expect(guest.pane("list").locator("li")).to_have_text(["eggs6"])
    # What another door changes is seen as well.
    row = {"op": "create", "table": "shopping_items", "records": [{"name": "milk"}]}
    kitchen.post("/write", {"request": row}, user_id=guest.user_id)
    expect(guest.pane("list")).to_contain_text("milk")
    guest.press("Undo the last change")
    expect(guest.pane("list").locator("li")).to_have_text(["milk"])
    guest.press("Begin a new conversation")
    expect(guest.replies()).to_have_count(0)
    assert guest.trouble == []


def test_a_mode_button_shows_the_mode_and_it_stays(browser: Browser, kitchen: Kitchen) -> None:
    guest = Guest.sit_down(browser, kitchen, kitchen.invite())
    modes = guest.page.get_by_role("group", name="Mode").get_by_role("button")
    expect(modes).to_have_text(["Quick", "Cooking", "Plan", "Create"])
    guest.press("Plan")
    pressed = guest.page.locator(".modes [aria-pressed=true]")
    expect(pressed).to_have_text("Plan")
    guest.say("Add milk to my shopping list")
    expect(guest.replies()).to_have_count(1)
    assert guest.turns()[-1]["mode"] == "plan"
    guest.page.reload()
    expect(pressed).to_have_text("Plan")
    guest.press("Quick")
    expect(pressed).to_have_text("Quick")
    guest.press("Quick")
    expect(pressed).to_have_count(0)


def test_drafts_are_kept_and_dropped_by_their_chips(browser: Browser, kitchen: Kitchen) -> None:
    guest = Guest.sit_down(browser, kitchen, kitchen.invite(seeded=True))
    before = kitchen.names("recipes", guest.user_id)
    chips = guest.page.locator(".chip")
    guest.press("Create")
    guest.say("Make me a weeknight pasta")
    expect(chips).to_have_count(1)
    name = chips.locator(".name").inner_text()
    assert kitchen.names("recipes", guest.user_id) == before
    guest.press(f"Keep {name}")
    expect(chips).to_have_count(0)
    assert sorted([*before, name]) == kitchen.names("recipes", guest.user_id)
    assert guest.calls() == []
    guest.say("Make me a soup")
    expect(chips).to_have_count(1)
    dropped = chips.locator(".name").inner_text()
    guest.press(f"Drop {dropped}")
    expect(chips).to_have_count(0)
    expect(guest.replies().last).to_contain_text(f"Dropped “{dropped}”")
    assert sorted([*before, name]) == kitchen.names("recipes", guest.user_id)
    assert guest.calls() == []


def test_a_plan_is_changed_confirmed_and_cancelled_by_its_card(
    browser: Browser, kitchen: Kitchen
) -> None:
    guest = Guest.sit_down(browser, kitchen, kitchen.invite(seeded=True))
    card = guest.page.locator(".card.proposal")
    guest.press("Plan")
    guest.say("Plan 3 dinners for next week")
    expect(card).to_contain_text("3 in meal plans")
    guest.page.reload()
    expect(card).to_contain_text("3 in meal plans")
    guest.press("Cancel")
    expect(card).to_have_count(0)
    expect(guest.replies().last).to_contain_text("nothing was saved")
    assert guest.calls() == [] and kitchen.names("meal_plans", guest.user_id) == []
    guest.say("Plan 3 dinners for next week")
    guest.press("Change")
    expect(guest.page.get_by_label("What should be different?")).to_be_focused()
    guest.page.keyboard.type("make it 4")
    guest.page.keyboard.press("Enter")
    expect(card).to_contain_text("4 in meal plans")
    assert kitchen.names("meal_plans", guest.user_id) == []
    guest.press("Confirm")
    expect(card).to_have_count(0)
    assert len(kitchen.names("meal_plans", guest.user_id)) == 4
    expect(guest.pane("week").locator(".meal")).to_have_count(4)
    assert guest.calls() == []


def test_options_of_a_question_are_buttons(browser: Browser, kitchen: Kitchen) -> None:
    guest = Guest.sit_down(browser, kitchen, kitchen.invite())
    for dish in ("Lemon Pasta", "Tomato Pasta"):
        record = {"name": dish, "servings": 2, "steps": [{"text": "Cook it."}]}
        wanted = {"op": "create", "table": "recipes", "records": [record]}
        kitchen.post("/write", {"request": wanted}, user_id=guest.user_id)
    guest.say("show my recipes")
    expect(guest.replies()).to_have_count(1)
    guest.press("Plan")
    guest.say("add that one to Tuesday")
    guest.press("Tomato Pasta")
    expect(guest.pane("week")).to_contain_text("Tomato Pasta")
    expect(guest.page.locator(".card.question")).to_have_count(0)


def test_text_of_others_is_shown_and_never_executed(browser: Browser, kitchen: Kitchen) -> None:
    hostile = "<img src=x onerror=alert(1)><script>alert(2)"
    user_id = kitchen.invite(hostile)
    records = [{"name": hostile}, {"name": "{{ constructor.constructor('alert(3)')() }}"}]
    wanted = {"op": "create", "table": "shopping_items", "records": records}
    kitchen.post("/write", {"request": wanted}, user_id=user_id)
    # Nobody knows such an allergen: it is kept all the same, once its owner has said so.
    unheard_of = {"values": {"allergies": [hostile]}}
    refused = kitchen.client.put(
        "/api/alfred/profile", json=unheard_of, params={"user_id": user_id}
    )
    assert refused.status_code == 409
    preview = refused.json()["error"]["details"]["preview"]
    kitchen.put("/profile", {**unheard_of, "confirmed": preview}, user_id=user_id)
    guest = Guest.sit_down(browser, kitchen, user_id)
    expect(guest.pane("list")).to_contain_text(hostile)
    expect(guest.pane("list")).to_contain_text("{{ constructor")
    expect(guest.page.locator(".allergy")).to_have_text(f"No {hostile}")
    guest.say(f"**bold** {hostile} [x](javascript:alert(4))")
    expect(guest.page.locator(".turns .mine")).to_have_text(
        f"**bold** {hostile} [x](javascript:alert(4))"
    )
    guest.page.reload()
    expect(guest.page.locator(".turns .mine")).to_contain_text("**bold** <img src=x")
    assert guest.page.locator(".kitchen img, .kitchen script, .kitchen b").count() == 0
    assert guest.trouble == []


def test_who_looks_sees_a_turn_happen_and_may_come_back(browser: Browser, kitchen: Kitchen) -> None:
    guest = Guest.sit_down(browser, kitchen, kitchen.invite(seeded=True), PHONE)
    guest.press("Create")
    guest.say("Make me a slow weeknight pasta")
    under_way = guest.page.locator(".under-way")
    expect(under_way).to_contain_text("Make me a slow weeknight pasta")
    expect(under_way.locator(".doing")).to_contain_text("…")
    expect(guest.page.locator("#send")).to_be_disabled()
    guest.page.reload()
    expect(under_way).to_contain_text("Make me a slow weeknight pasta")
    kitchen.release("slow")
    expect(guest.page.locator(".chip")).to_have_count(1)
    expect(under_way).to_be_hidden()
    expect(guest.page.locator("#send")).to_be_enabled()
    # On a phone a pane is a view of its own.
    expect(guest.pane("list")).to_be_hidden()
    guest.press("List")
    expect(guest.pane("list")).to_be_visible()
    expect(guest.page.get_by_label(SAY)).to_be_hidden()
    assert guest.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


def test_one_sees_who_cooks_what_they_must_not_eat_and_the_step_at_hand(
    browser: Browser, kitchen: Kitchen
) -> None:
    other = kitchen.invite("Grandmother")
    eaters = ["son: allergy gluten", "wife: diet pescatarian"]
    limits = {"allergies": ["nuts"], "diet": ["vegetarian"], "eaters": eaters}
    guest = Guest.sit_down(browser, kitchen, kitchen.invite("Ann", **limits))
    shown = ["No nuts", "vegetarian", "son: no gluten", "wife: pescatarian"]
    expect(guest.page.locator(".tag")).to_have_text(shown)
    record = {
        "name": "Omelette",
        "servings": 2,
        "ingredients": ["4 eggs"],
        "steps": [{"text": "Beat the eggs."}, {"text": "Fry them.", "minutes": 4}],
    }
    wanted = {"op": "create", "table": "recipes", "records": [record]}
    kitchen.post("/write", {"request": wanted}, user_id=guest.user_id)
    stock = {"ingredient": "spinach", "quantity": 200, "unit": "g", "expires_on": "@today+1d"}
    wanted = {"op": "create", "table": "inventory_items", "records": [stock]}
    kitchen.post("/write", {"request": wanted}, user_id=guest.user_id)
    expect(guest.pane("stock").locator(".urgent")).to_contain_text("spinachtomorrow200 g")
    guest.press("Cooking")
    guest.say("I'm making omelette for 2")
    stove = guest.page.locator(".stove")
    expect(stove).to_contain_text("Omelette")
    guest.press("Begin")
    expect(stove).to_contain_text("1 of 2: Beat the eggs.")
    guest.press("Next")
    expect(stove).to_contain_text("2 of 2: Fry them. (4 min)")
    guest.say("timer 4 minutes")
    expect(stove.locator(".timer")).to_have_text("Timer: 4 min left")
    guest.page.get_by_label("Who is cooking").click()
    guest.page.get_by_role("option", name="Grandmother").click()
    expect(guest.page).to_have_url(f"{kitchen.address}/kitchen/?who={other}")
    expect(guest.page.locator(".tag")).to_have_count(0)
    expect(guest.replies()).to_have_count(0)
