"""The time line of a world in a browser: back to an instant, forward again, and why something happened."""
import re
import time
from pathlib import Path
from typing import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from conftest import DESKTOP, PHONE, Visitor
from test_page import SECONDS, Program, check
from test_world import app_shows, drag

# For an instant of a world of ten minutes, with a debug build on a busy machine.
MOST_SECONDS = 40


@pytest.fixture
def world(tmp_path: Path) -> Iterator[str]:
    """The address of a world that nobody has visited."""
    program = Program("demo", "--page", "--seed", "7", log=tmp_path / "log")
    yield program.line(r"(http://\S+)")
    program.end()


@pytest.fixture
def open_world(browser: Browser, world: str) -> Iterator:
    visitors: list[Visitor] = []

    def new(size: dict[str, int] = DESKTOP, scheme: str = "light", speed: str = "10") -> Page:
        visitors.append(Visitor(browser, world.partition("#")[0], size, scheme))
        page = visitors[-1].page
        page.goto(world)
        page.get_by_label("Speed").select_option(speed)
        page.get_by_role("button", name="Run").click()
        app_shows(page, "bpm")
        return page

    yield new
    for visitor in visitors:
        visitor.context.close()
    assert not [fault for each in visitors for fault in each.faults]


def pause(page: Page) -> str:
    """Stops the time, and returns it."""
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Run")).to_be_visible()
    page.wait_for_timeout(300)
    return page.get_by_label("Time of the world").inner_text()


def press(page: Page, key: str) -> None:
    page.get_by_label("Instant of the world").press(key)


def is_at(page: Page, text: str) -> None:
    expect(page.get_by_label("Time of the world")).to_have_text(text, timeout=SECONDS * 1_000)
    expect(page.locator("#world-past")).not_to_contain_text("Going to", timeout=SECONDS * 1_000)


def story(page: Page) -> str:
    return page.get_by_label("Story", exact=True).inner_text()


def packets(page: Page) -> str:
    """The last row of the packets, with its number in the list."""
    page.get_by_role("navigation").get_by_role("link", name="Packets").click()
    last = page.locator("#packet-list .event").last
    expect(last).to_be_visible(timeout=SECONDS * 1_000)
    deadline = time.monotonic() + SECONDS
    # Loading may begin after the row is there.
    while True:
        text = f"{page.locator('#packets-count').inner_text()} {last.get_attribute('id')} {last.inner_text()}"
        if "being loaded" not in text or time.monotonic() > deadline:
            break
    page.get_by_role("navigation").get_by_role("link", name="World").click()
    return text


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop light", "phone dark"])
def test_a_world_goes_back_and_forward_again(open_world, size: dict[str, int], scheme: str) -> None:
    page = open_world(size, scheme)
    drag(page, "Heart Rate", 105)
    app_shows(page, "lost the sensor")
    drag(page, "Heart Rate", 30)
    app_shows(page, "found the sensor")
    app_shows(page, "bpm")
    end = pause(page)
    told, sent = story(page), packets(page)
    expect(page.get_by_role("img", name=re.compile("Lives so far: app [1-9].*link 2.*scans 1"))).to_be_visible()
    check(page, f"timeline-{size['width']}-{scheme}")
    press(page, "Home")
    is_at(page, "00:00.000")
    past = page.locator("#world-past")
    expect(past).to_contain_text(f"up to {end}")
    expect(past).to_contain_text("acts are repeated. What you do here discards what followed.")
    assert "lost the sensor" not in story(page)
    # The lives after the present stay.
    expect(page.get_by_role("img", name=re.compile("link 2"))).to_be_visible()
    press(page, "ArrowRight")
    expect(page.get_by_label("Time of the world")).not_to_have_text("00:00.000", timeout=SECONDS * 1_000)
    check(page, f"timeline-past-{size['width']}-{scheme}")
    press(page, "End")
    is_at(page, end)
    assert story(page) == told
    assert packets(page) == sent
    expect(past).to_be_empty()


def test_what_is_done_in_the_past_discards_what_followed(open_world) -> None:
    page = open_world()
    page.wait_for_function("() => Number(document.getElementById('world-instant').max) > 12000")
    drag(page, "Heart Rate", 105)
    app_shows(page, "lost the sensor")
    pause(page)
    press(page, "Home")
    is_at(page, "00:00.000")
    press(page, "PageUp")
    is_at(page, "00:10.000")
    page.get_by_role("button", name="Drain the battery").click()
    expect(page.locator("#world-past")).to_be_empty()
    expect(page.get_by_label("Instant of the world")).to_have_attribute("max", "10000")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_label("Story", exact=True)).to_contain_text("the app shows: the sensor's battery is at 5 %")
    page.get_by_role("button", name="Save as a test").click()
    text = page.get_by_label("The test").inner_text()
    assert ".lowBattery" in text
    assert ".move(" not in text


def test_the_chain_of_causes_leads_to_the_call_in_the_app(open_world) -> None:
    page = open_world()
    pause(page)
    lines = page.get_by_label("Story", exact=True)
    lines.focus()
    page.keyboard.press("End")
    for _ in range(20):
        if "value notified" in lines.get_by_role("option", selected=True).inner_text():
            break
        page.keyboard.press("ArrowUp")
    page.get_by_role("button", name="Why?").click()
    causes = page.get_by_role("region", name="Causes")
    expect(causes.get_by_role("listitem").first).to_contain_text("value notified", timeout=SECONDS * 1_000)
    expect(causes).to_contain_text(re.compile(r"Handle Value Notification.*the value was subscribed to \[Core Vol 3 Part G", re.DOTALL))
    expect(causes).to_contain_text("at HeartRateWatch.swift:")
    expect(causes.get_by_role("listitem").last).to_contain_text("nothing that the world knows caused it")
    check(page, "why")
    causes.get_by_role("link", name=re.compile("^packet ")).first.click()
    page.get_by_role("link", name="Why?").click()
    expect(causes.get_by_role("heading")).to_have_text(re.compile(r"^Why packet \d+\?$"))
    expect(causes.get_by_role("listitem").first).to_contain_text("it was received on the air")
    page.set_viewport_size(PHONE)
    check(page, "why-phone")


def test_any_instant_of_ten_minutes_is_near(open_world) -> None:
    page = open_world(speed="100")
    page.wait_for_function("() => Number(document.getElementById('world-instant').max) >= 600000", timeout=200_000)
    end = pause(page)
    minutes, seconds = end.split(":")
    back = int(minutes) * 60 + float(seconds) - 10
    steps = {"Home": "00:00.000", "PageUp": "00:10.000", "End": end, "PageDown": f"{int(back // 60):02}:{back % 60:06.3f}"}
    times = {}
    for key, instant in steps.items():
        begin = time.monotonic()
        press(page, key)
        # Looked at for each frame of the screen: an expectation waits longer between two looks than a leap takes.
        page.wait_for_function(
            """instant => document.querySelector("[aria-label='Time of the world']").innerText === instant
                && !document.getElementById("world-past").innerText.includes("Going to")""",
            arg=instant,
            timeout=MOST_SECONDS * 2_000,
        )
        times[key] = time.monotonic() - begin
    print("seconds to an instant of ten minutes:", {key: round(each, 2) for key, each in times.items()})
    assert max(times.values()) < MOST_SECONDS
