"""`harald demo --page` in a browser, as a new user would try it: the app loses a sensor and finds it again."""
import itertools
import re
from typing import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from conftest import DESKTOP, PHONE, Visitor
from test_page import SECONDS, Program, picture

WIDE = {"width": 1440, "height": 900}
seeds = itertools.count(100)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page with a world."""
    program = Program("demo", "--page", "--seed", "7", log=tmp_path_factory.mktemp("world") / "log")
    yield program.line(r"(http://\S+)")
    program.end()


@pytest.fixture
def open_world(browser: Browser, world: str) -> Iterator:
    """Opens the page with a world that has just begun and is ten times as fast."""
    visitors: list[Visitor] = []

    def new(size: dict[str, int] = DESKTOP, scheme: str = "light") -> Page:
        visitor = Visitor(browser, world.partition("?")[0], size, scheme)
        visitors.append(visitor)
        page = visitor.page
        page.goto(world)
        expect(page.get_by_role("link", name="World")).to_be_visible(timeout=SECONDS * 1_000)
        page.get_by_label("Speed").select_option("10")
        # With a seed of its own, to tell it from the world before.
        restart(page, str(next(seeds)))
        app_shows(page, "bpm")
        return page

    yield new
    for visitor in visitors:
        visitor.context.close()
    assert not [fault for each in visitors for fault in each.faults]


def restart(page: Page, seed: str) -> None:
    page.get_by_label("Seed").fill(seed)
    page.get_by_role("button", name="Restart").click()
    expect(page.get_by_label("Seed")).to_have_attribute("placeholder", seed, timeout=SECONDS * 1_000)


def app_shows(page: Page, text: str) -> None:
    expect(page.locator("#world-app")).to_contain_text(text, timeout=SECONDS * 1_000)


def drag(page: Page, name: str, metres: float) -> None:
    """Drags a device to a place east of the middle."""
    area = page.locator(".map").bounding_box()
    thing = page.get_by_role("button", name=re.compile(f"^{name} at")).bounding_box()
    assert area and thing
    page.mouse.move(thing["x"] + thing["width"] / 2, thing["y"] + thing["height"] / 2)
    page.mouse.down()
    page.mouse.move(area["x"] + area["width"] * (0.5 + metres / 240), area["y"] + area["height"] / 2, steps=5)
    page.mouse.up()


def is_narrow(page: Page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize(("size", "scheme"), [(WIDE, "light"), (PHONE, "dark")], ids=["wide light", "phone dark"])
def test_the_sensor_is_dragged_out_of_range_and_back(open_world, size: dict[str, int], scheme: str) -> None:
    page = open_world(size, scheme)
    drag(page, "Heart Rate", 105)
    expect(page.locator("#world-link-state")).to_contain_text("out of range", timeout=SECONDS * 1_000)
    app_shows(page, "lost the sensor")
    expect(page.get_by_label("Story", exact=True)).to_contain_text("Heart Rate: moves to")
    picture(page, f"world-lost-{size['width']}-{scheme}")
    assert is_narrow(page)
    drag(page, "Heart Rate", 30)
    app_shows(page, "found the sensor")
    app_shows(page, "bpm")
    picture(page, f"world-{size['width']}-{scheme}")
    assert is_narrow(page)


def test_the_keyboard_alone_moves_the_sensor(open_world) -> None:
    page = open_world()
    thing = page.get_by_role("button", name=re.compile("^Heart Rate at"))
    page.get_by_role("button", name="Save as a test").focus()
    for _ in range(3):
        page.keyboard.press("Tab")
        if thing.evaluate("each => each === document.activeElement"):
            break
    expect(thing).to_be_focused()
    page.keyboard.press("ArrowUp")
    for _ in range(6):
        page.keyboard.press("Shift+ArrowRight")
    expect(thing).to_have_accessible_name("Heart Rate at 100 m east, 21 m north")
    app_shows(page, "lost the sensor")
    expect(thing).to_be_focused()
    field = page.get_by_label("Heart Rate, x in metres")
    field.focus()
    field.fill("20")
    page.keyboard.press("Enter")
    app_shows(page, "found the sensor")


def test_time_stands_still_and_goes_on_by_steps(open_world) -> None:
    page = open_world()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Run")).to_be_visible()
    clock = page.get_by_label("Time of the world")
    lines = page.get_by_label("Story", exact=True).locator("div")
    # The last report may come after the button.
    page.wait_for_timeout(300)
    before, count = clock.inner_text(), lines.count()
    page.get_by_role("button", name="Step").click()
    expect(lines).not_to_have_count(count)
    assert clock.inner_text() >= before
    restart(page, str(next(seeds)))
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def test_what_is_done_is_saved_as_a_test(open_world) -> None:
    page = open_world()
    page.get_by_role("button", name="Drop the link").click()
    app_shows(page, "lost the sensor")
    page.get_by_role("button", name="Restore the link").click()
    app_shows(page, "found the sensor")
    page.get_by_role("button", name="Drain the battery").click()
    page.get_by_role("button", name="Wall between them").click()
    expect(page.get_by_text("Wall of 30 dB")).to_be_visible()
    page.get_by_label("Noise").select_option("-80")
    page.get_by_role("button", name="Jam advertising").click()
    expect(page.get_by_role("button", name="Unjam advertising")).to_be_visible()
    page.get_by_role("button", name="Kill").click()
    app_shows(page, "not running")
    page.get_by_role("button", name="Open", exact=True).click()
    app_shows(page, "searching")
    picture(page, "world-faults")
    page.get_by_role("button", name="Save as a test").click()
    text = page.get_by_label("The test").inner_text()
    acts = ["sensor.begin(DeviceFault(.lossy, 1))", "sensor.end(DeviceFault(.lossy, 1))",
            "sensor.begin(DeviceFault(.lowBattery))", "$0.walls.append(", "$0.channelNoise", ".jammedChannel, 38",
            'phone.app("watch")?.crash()', 'phone.open("watch")', "final class HeartRateWatch"]
    places = [text.find(each) for each in acts]
    assert -1 not in places
    with page.expect_download() as download:
        page.get_by_role("link", name="Download WorldTests.swift").click()
    assert download.value.suggested_filename == "WorldTests.swift"
    assert download.value.path().read_text().rstrip() == text.rstrip()
    picture(page, "world-test")


def test_the_phone_is_a_system_like_any_other(open_world) -> None:
    page = open_world()
    page.get_by_role("link", name="Devices").click()
    expect(page.get_by_role("link", name="Heart Rate")).to_be_visible(timeout=SECONDS * 1_000)
    page.get_by_role("link", name="Apps").click()
    expect(page.get_by_role("img", name=re.compile("The life of watch"))).to_be_visible()
    page.get_by_role("link", name="Events").click()
    expect(page.get_by_text("watch ←").first).to_be_visible(timeout=SECONDS * 1_000)
    page.get_by_role("link", name="World").click()
    page.get_by_role("button", name="Restart").click()
    page.get_by_role("link", name="Events").click()
    # The events of the next world, over another conversation.
    expect(page.get_by_text("watch ←").first).to_be_visible(timeout=SECONDS * 1_000)
