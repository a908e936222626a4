"""`harald demo --page` in a browser, as a new user would try it: the app loses a sensor and finds it again."""
import itertools
import re
from pathlib import Path
from typing import Iterator

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from conftest import DESKTOP, PHONE, Visitor, tshark
from test_page import SECONDS, Program, check, picture

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
    """Opens the page with a world that has just begun, runs, and is ten times as fast."""
    visitors: list[Visitor] = []

    def new(size: dict[str, int] = DESKTOP, scheme: str = "light") -> Page:
        visitor = Visitor(browser, world.partition("#")[0], size, scheme)
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
    def accept(dialog: Dialog) -> None:
        dialog.accept()

    page.on("dialog", accept)
    page.get_by_label("Seed").fill(seed)
    page.get_by_role("button", name="Restart").click()
    expect(page.get_by_label("Seed")).to_have_attribute("placeholder", seed, timeout=SECONDS * 1_000)
    page.remove_listener("dialog", accept)


def app_shows(page: Page, text: str) -> None:
    expect(page.locator("#world-app")).to_contain_text(text, timeout=SECONDS * 1_000)


def drag(page: Page, name: str, metres: float) -> None:
    """Drags a device to a place east of the middle."""
    page.locator(".map").scroll_into_view_if_needed()
    area = page.locator(".map").bounding_box()
    thing = page.get_by_role("button", name=re.compile(f"^{name} at")).bounding_box()
    assert area and thing
    pixels = min(area["width"] / 240, area["height"] / 150)
    page.mouse.move(thing["x"] + thing["width"] / 2, thing["y"] + thing["height"] / 2)
    page.mouse.down()
    page.mouse.move(area["x"] + area["width"] / 2 + pixels * metres, area["y"] + area["height"] / 2, steps=5)
    page.mouse.up()


def is_narrow(page: Page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize(("size", "scheme"), [(WIDE, "light"), (PHONE, "dark")], ids=["wide light", "phone dark"])
def test_the_sensor_is_dragged_out_of_range_and_back(open_world, size: dict[str, int], scheme: str) -> None:
    page = open_world(size, scheme)
    drag(page, "Heart Rate", 105)
    expect(page.locator("#world-link-state")).to_contain_text("out of range", timeout=SECONDS * 1_000)
    app_shows(page, "lost the sensor")
    expect(page.locator(".story .shows", has_text="the app shows: lost the sensor")).to_be_visible()
    expect(page.get_by_label("Story", exact=True)).to_contain_text("Heart Rate: moves to")
    # Beyond its range of everything, it is brought back by the drag.
    page.get_by_role("button", name="Take out of range").click()
    expect(page.get_by_role("button", name="Bring back")).to_be_visible(timeout=SECONDS * 1_000)
    picture(page, f"world-lost-{size['width']}-{scheme}")
    assert is_narrow(page)
    drag(page, "Heart Rate", 30)
    app_shows(page, "found the sensor")
    app_shows(page, "bpm")
    expect(page.get_by_role("button", name="Take out of range")).to_be_visible()
    assert "credits returned" not in page.get_by_label("Story", exact=True).inner_text()
    check(page, f"world-{size['width']}-{scheme}")


def boxes(page: Page) -> list[dict[str, float]]:
    """The boxes of one instant: a world that is paused may still have news, which move the labels."""
    return page.locator(".map .thing, .map .label").evaluate_all(
        """all => all.filter((each) => each.checkVisibility({ visibilityProperty: true })).map((each) => {
        const { x, y, width, height } = each.getBoundingClientRect();
        return { x, y, width, height }; })""")


def overlap(one: dict[str, float], other: dict[str, float]) -> bool:
    return all(one[start] < other[start] + other[size] and other[start] < one[start] + one[size]
               for start, size in [("x", "width"), ("y", "height")])


def test_labels_are_whole_and_apart(open_world) -> None:
    """Wherever the two devices are, no label is cut off or hides another one."""
    page = open_world(WIDE, "dark")
    page.get_by_role("button", name="Pause").click()
    page.get_by_text("Positions in metres").click()
    middle = (0, 0)
    places = [(middle, (119, 74)), (middle, (-119, -74)), (middle, middle), (middle, (3, 1)), ((118, 73), (119, 74)),
              ((-5, -74), (0, -75))]
    for size, place in itertools.product([WIDE, PHONE], places):
        page.set_viewport_size(size)
        for name, (x, y) in zip(["Phone", "Heart Rate"], place):
            for axis, value in [("x", x), ("y", y)]:
                field = page.get_by_label(f"{name}, {axis} in metres")
                if field.input_value() != str(value):
                    field.fill(str(value))
                    field.press("Enter")
            expect(page.get_by_role("button", name=f"{name} at {x} m east, {y} m north")).to_be_visible()
        found, area = boxes(page), page.locator(".map").bounding_box()
        assert len(found) >= 2 and area, place
        for box in found:
            assert area["x"] <= box["x"] and box["x"] + box["width"] <= area["x"] + area["width"], (place, found)
            assert area["y"] <= box["y"] and box["y"] + box["height"] <= area["y"] + area["height"], (place, found)
        assert not [pair for pair in itertools.combinations(found, 2) if overlap(*pair)], (place, found)
        if place in places[:1] + places[3:4]:
            picture(page, f"world-labels-{size['width']}-{places.index(place)}")


def test_a_line_of_the_story_leads_to_its_packet_and_back(open_world, tmp_path: Path) -> None:
    """The app has lost the sensor: the packet that says so, the silence on the air before, and a file of both."""
    page = open_world()
    drag(page, "Heart Rate", 105)
    app_shows(page, "lost the sensor")
    page.get_by_role("button", name="Pause").click()
    story = page.get_by_role("listbox", name="Story")
    line = story.get_by_role("option").filter(has_text=re.compile("Phone: .*link ended")).last
    line.click()
    packets = page.get_by_role("listbox", name="Packets")
    chosen = packets.get_by_role("option", selected=True)
    expect(chosen).to_contain_text("Disconnection Complete")
    expect(packets).to_be_focused()
    packet = page.get_by_role("region", name="Packet", exact=True)
    reason = packet.get_by_role("button", name=re.compile("^Reason: connection timeout"))
    reason.click()
    expect(packet.locator(".octets .lit")).to_have_text("08")
    packet.locator(".octets span").nth(3).click()
    expect(packet.get_by_role("button", pressed=True)).to_contain_text("Connection_Handle")
    check(page, "world-packets")
    page.get_by_role("link", name="Show it in the story").click()
    expect(story).to_be_focused()
    expect(story.get_by_role("option", selected=True)).to_have_text(line.inner_text())
    assert page.locator("#view").evaluate("each => each.scrollTop") == 0
    check(page, "world-story")
    place = story.get_by_role("option", selected=True).get_attribute("id")
    page.keyboard.press("PageUp")
    page.keyboard.press("PageDown")
    expect(story.get_by_role("option", selected=True)).to_have_attribute("id", place)
    # By the keyboard, to a line that is about something else.
    page.keyboard.press("Home")
    for _ in range(40):
        page.keyboard.press("ArrowDown")
        if "moves to" in story.get_by_role("option", selected=True).inner_text():
            break
    page.keyboard.press("Enter")
    expect(packets).to_be_focused()
    expect(chosen).to_have_count(1)
    # The empty PDUs that were never answered.
    page.get_by_label("Filter packets").fill("empty")
    page.get_by_label("Filter packets").press("Escape")
    packets.focus()
    page.keyboard.press("End")
    expect(chosen).to_contain_text(re.compile("→ AIR .*Empty PDU"))
    # The sensor comes back, and a file has the beginning of the next link.
    page.get_by_role("link", name="World").click()
    page.get_by_role("button", name="Run").click()
    drag(page, "Heart Rate", 30)
    app_shows(page, "found the sensor")
    page.get_by_role("link", name="Packets").click()
    page.get_by_label("Filter packets").fill("")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save pcapng").click()
    download.value.save_as(tmp_path / "world.pcapng")
    rows = tshark(tmp_path / "world.pcapng", "frame.interface_id", "frame.time_epoch", "bthci_evt.code", "btle.access_address",
                  "btle.advertising_header.pdu_type", "_ws.malformed", "btle.crc.incorrect", "frame.comment")
    assert {row[0] for row in rows} == {"0", "1"}
    assert [float(row[1]) for row in rows] == sorted(float(row[1]) for row in rows)
    assert "0x05" in [row[2] for row in rows if row[0] == "0"]
    assert {"0x00", "0x05"} <= {row[4] for row in rows if row[0] == "1"}
    # Advertising, the link that was lost, and the next one.
    assert len({row[3] for row in rows if row[0] == "1"}) == 3
    assert not [row for row in rows if row[5] or row[6]]
    # The comment of a frame is its sender.
    assert {row[7] for row in rows if row[0] == "0"} == {""}
    assert {row[7] for row in rows if row[0] == "1"} == {"Phone", "Heart Rate"}


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
    page.get_by_text("Positions in metres").click()
    field = page.get_by_label("Heart Rate, x in metres")
    field.focus()
    field.fill("20")
    page.keyboard.press("Enter")
    app_shows(page, "found the sensor")


def test_time_stands_still_and_goes_on_by_steps(open_world) -> None:
    page = open_world()
    step = page.get_by_role("button", name="Step").bounding_box()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Run")).to_be_visible()
    assert page.get_by_role("button", name="Step").bounding_box() == step
    clock = page.get_by_label("Time of the world")
    # The last report may come after the button.
    page.wait_for_timeout(300)
    story = page.get_by_label("Story", exact=True)
    before, told = clock.inner_text(), story.inner_text()
    story.evaluate("each => { each.scrollTop = 7; }")
    page.get_by_role("button", name="Step").click()
    # An event is a line, or changes the line of its series.
    page.wait_for_function("([each, told]) => each.innerText !== told", arg=[story.element_handle(), told])
    assert clock.inner_text() >= before
    assert story.evaluate("each => each.scrollTop") == 7
    drag(page, "Heart Rate", 10)
    drag(page, "Heart Rate", 100)
    drag(page, "Heart Rate", 20)
    expect(story).to_contain_text(re.compile(r"Heart Rate: moves to \(.*\), 3 times"))
    page.get_by_role("button", name="Save as a test").click()
    # While time stands still, only the last place counts.
    assert page.get_by_label("The test").inner_text().count(".move(") == 1
    page.get_by_role("button", name="Close", exact=True).click()
    restart(page, str(next(seeds)))
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def test_what_is_done_is_saved_as_a_test(open_world) -> None:
    page = open_world()
    page.get_by_role("button", name="Drop the link once").click()
    # It comes back by itself, soon.
    shown = page.locator(".story .shows")
    expect(shown.filter(has_text="lost the sensor")).to_have_count(1, timeout=SECONDS * 1_000)
    expect(shown.last).to_contain_text("found the sensor", timeout=SECONDS * 1_000)
    app_shows(page, "bpm")
    expect(page.get_by_role("button", name="Drop the link once")).to_be_enabled()
    page.get_by_role("button", name="Drain the battery").click()
    wall = page.get_by_role("button", name="Wall between them")
    wall.click()
    expect(page.get_by_text(re.compile("^Wall of 30 dB"))).to_be_visible()
    expect(page.locator("#world-link-state")).to_contain_text("m from the phone, behind a wall, ")
    # Another one would be in the same place.
    expect(wall).to_be_disabled()
    expect(page.get_by_label("Story", exact=True)).to_contain_text("a wall of 30 dB from")
    page.get_by_label("Noise").select_option("-80")
    page.get_by_role("button", name="Jam advertising").click()
    expect(page.get_by_role("button", name="Unjam advertising")).to_be_visible()
    page.get_by_role("button", name="Kill").click()
    app_shows(page, "not running")
    expect(page.get_by_role("button", name="Kill")).to_be_disabled()
    expect(page.get_by_role("button", name="Kill")).to_have_attribute("title", re.compile("crashes.*Not now"))
    page.get_by_role("button", name="Launch", exact=True).click()
    app_shows(page, "searching")
    expect(page.get_by_label("Story", exact=True)).to_contain_text(re.compile("crashed.*Phone: the user opens watch", re.DOTALL))
    expect(page.get_by_role("button", name="Launch", exact=True)).to_be_disabled()
    page.get_by_text("What the buttons do").click()
    expect(page.get_by_role("definition").filter(has_text="to free memory")).to_be_visible()
    # They are the radio's.
    expect(page.get_by_text("Jammed channels: 37, 38, 39.")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^End jammed"))).to_have_count(0)
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
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").rstrip() == text.rstrip()
    expect(page.get_by_text("products Accessories, BluetoothTesting")).to_be_visible()
    check(page, "world-test")


def open_view(page: Page, name: str) -> None:
    page.get_by_role("navigation").get_by_role("link", name=name).click()


def test_the_phone_is_a_system_like_any_other(open_world) -> None:
    page = open_world()
    expect(page.locator("#world-power")).to_contain_text("days with a coin cell")
    page.get_by_role("link", name="Devices").click()
    page.get_by_role("link", name="Heart Rate").click(timeout=SECONDS * 1_000)
    expect(page.locator("#device-charge")).to_contain_text(re.compile("watch: link .* µAh"))
    page.get_by_role("link", name="Apps").click()
    expect(page.get_by_role("img", name=re.compile("The life of watch"))).to_be_visible()
    charge = page.get_by_role("article").filter(has_text="watch").locator(".charge")
    expect(charge).to_contain_text(re.compile("µAh, .*A on average so far: .*link to Heart Rate .* µAh"))
    before = charge.inner_text()
    expect(charge).not_to_have_text(before, timeout=SECONDS * 1_000)
    expect(page.locator("#energy")).to_contain_text("Energy, exact, with the currents of")
    check(page, "world-apps")
    page.get_by_role("link", name="Advice").click()
    expect(page.get_by_role("region", name="Energy").get_by_role("listitem")).to_contain_text("watch: ")
    page.get_by_role("link", name="Events").click()
    expect(page.get_by_text("watch ←").first).to_be_visible(timeout=SECONDS * 1_000)
    page.get_by_role("link", name="World").click()
    page.get_by_role("button", name="Restart").click()
    page.get_by_role("link", name="Events").click()
    # The events of the next world, over another conversation.
    expect(page.get_by_text("watch ←").first).to_be_visible(timeout=SECONDS * 1_000)
    open_view(page, "Devices")
    device = page.get_by_role("row", name=re.compile("Heart Rate"))
    expect(device).to_contain_text("not encrypted", timeout=SECONDS * 1_000)
    expect(device.get_by_role("cell", name="now", exact=True)).to_be_visible()
    expect(device.get_by_role("cell", name="Heart Rate (180D)", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Scan", exact=True)).to_be_hidden()
    check(page, "world-devices")
    open_view(page, "Packets")
    # A page follows the packets of a world by itself, also those before it was open.
    first = page.get_by_label("Packets", exact=True).locator("[data-index='0']")
    page.get_by_role("button", name="Keep at the end").click()
    page.get_by_label("Packets", exact=True).press("Home")
    expect(first).to_have_text(re.compile(r"^00:00\.000 . HCI"))
    open_view(page, "World")
    restart(page, str(next(seeds)))
    app_shows(page, "bpm")
    open_view(page, "Packets")
    page.get_by_label("Packets", exact=True).press("Home")
    expect(first).to_have_text(re.compile(r"^00:00\.000 . HCI"))
    open_view(page, "Events")
    page.get_by_label("Filter events").fill("connect \"Heart Rate\"")
    expect(page.get_by_text(re.compile(r"^00:00\.\d+ .* connect \"Heart Rate\"")).first).to_be_visible()


def test_an_app_is_ended_and_launched_in_the_view_of_apps(open_world) -> None:
    page = open_world()
    open_view(page, "Apps")
    life = page.get_by_role("img", name=re.compile("^The life of watch"))
    expect(life.locator(".foreground")).to_be_visible()
    tag = page.locator("article .tag")

    def press(name: str, state: str) -> None:
        page.get_by_role("button", name=f"{name}: watch").click()
        expect(tag).to_have_text(state, timeout=SECONDS * 1_000)

    press("Background", "background")
    press("Foreground", "foreground")
    launch = page.get_by_role("button", name="Launch: watch")
    expect(page.get_by_role("article").get_by_role("listitem")).to_be_visible(timeout=SECONDS * 1_000)
    place = launch.bounding_box()
    press("Force quit", "not running")
    assert launch.bounding_box() == place
    expect(page.get_by_role("button", name="Background: watch")).to_be_disabled()
    expect(page.get_by_role("alert")).to_be_hidden()
    check(page, "world-apps-ended")
    press("Launch", "foreground")
    expect(life.locator(".foreground").last).to_be_visible()
    shown = [each.get_attribute("class") for each in life.locator("rect:not(.launched)").all()]
    assert shown[0] == "foreground" and "background" in shown
    assert shown[-2:] == ["notRunning", "foreground"]
    open_view(page, "World")
    page.get_by_label("Fault of the sensor").select_option("Packets get lost in both directions")
    expect(page.get_by_label("Packets get lost in both directions, % of packets")).to_have_value("50")
    page.get_by_role("button", name="Begin the fault").click()
    expect(page.get_by_role("button", name=re.compile("^End lossy"))).to_be_visible(timeout=SECONDS * 1_000)
    expect(page.get_by_role("listitem").filter(has_text="Packets get lost in both directions: 50 % of packets")).to_be_visible()
    place = page.locator(".map").bounding_box()
    page.get_by_role("button", name="Begin the fault").click()
    expect(page.get_by_role("alert")).to_have_text("the sensor has this fault already")
    assert page.locator(".map").bounding_box() == place
    page.get_by_role("button", name="Close", exact=True).click()
    expect(page.get_by_role("alert")).to_be_hidden()


def test_back_leads_to_the_chosen_packet(open_world) -> None:
    """A link from a packet to its event, and Back: the filter and the choice are as before."""
    page = open_world()
    open_view(page, "Packets")
    page.get_by_label("Filter packets").fill("notification")
    packets = page.get_by_role("listbox", name="Packets")
    expect(packets.get_by_role("option").first).to_be_visible()
    place = packets.bounding_box()
    assert place
    page.mouse.move(place["x"] + 50, place["y"] + 12)
    page.mouse.down()
    # Rows that come while the pointer is down do not undo the click.
    shown = page.locator("#packets-count")
    expect(shown).not_to_have_text(shown.inner_text())
    page.mouse.up()
    chosen = packets.get_by_role("option", selected=True)
    # The device has a name as soon as it is known.
    time, *_, what = chosen.inner_text().splitlines()
    page.get_by_role("link", name=re.compile("^Show (its|the) event")).click()
    event = page.get_by_role("listbox", name="Events").get_by_role("option", selected=True)
    number = event.inner_text()
    page.go_back()
    expect(page.get_by_label("Filter packets")).to_have_value("notification")
    expect(chosen).to_contain_text(time)
    expect(chosen).to_contain_text(what)
    expect(page.get_by_role("region", name="Packet", exact=True)).to_be_visible()
    page.go_forward()
    expect(event).to_have_text(number)
    # A packet that the filter does not select is shown without it.
    open_view(page, "World")
    page.get_by_role("listbox", name="Story").get_by_role("option").filter(has_text="connect").first.click()
    expect(page.get_by_label("Filter packets")).to_have_value("")


def test_a_long_world_is_discarded_after_a_question(open_world) -> None:
    page = open_world()
    page.get_by_role("button", name="Drain the battery").click()
    page.get_by_label("Speed").select_option("100")
    expect(page.get_by_label("Time of the world")).not_to_have_text(re.compile("^00:"), timeout=SECONDS * 1_000)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Run")).to_be_visible(timeout=SECONDS * 1_000)
    page.get_by_label("Seed").fill("0")
    asked: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page.once("dialog", dismiss)
    page.get_by_role("button", name="Restart").click()
    assert len(asked) == 1 and "Save as a test" in asked[0]
    expect(page.get_by_label("Time of the world")).not_to_have_text(re.compile("^00:"))
    restart(page, str(next(seeds)))


def test_a_page_without_its_program_says_so(browser: Browser, tmp_path: Path) -> None:
    program = Program("demo", "--page", log=tmp_path / "log")
    page = browser.new_page()
    page.goto(program.line(r"(http://\S+)"))
    page.get_by_role("button", name="Run", exact=True).click(timeout=SECONDS * 1_000)
    status = page.get_by_role("status").first
    expect(status).to_have_text("Bluetooth is on", timeout=SECONDS * 1_000)
    program.end()
    assert program.process.returncode == 0
    expect(status).to_have_text("Not connected to Harald", timeout=SECONDS * 1_000)
    page.close()


def test_a_page_counts_the_packets_that_it_does_not_keep(open_world) -> None:
    """Of a world, all since its first instant, except for those that it asks for."""
    page = open_world()
    missing, forgotten = page.evaluate("""async () => {
        const { Model } = await import('/model.js');
        const model = new Model();
        const rows = (...numbers) => numbers.map((number) => [number, number, false, 'hci', 'x', null, null, 0, 0, 0, 0]);
        const seen = () => [model.missingBefore, model.forgottenPackets];
        model.world = { start: 0 };
        const all = [];
        model.take({ type: 'packets', value: { lost: 0, rows: rows(8, 9) } });
        all.push(seen());
        model.take({ type: 'earlier', value: { rows: rows(5, 6) } });
        all.push(seen());
        // Another one has come in the meantime, and older ones than the fifth are not kept.
        model.take({ type: 'packets', value: { lost: 1, rows: rows(11) } });
        model.take({ type: 'earlier', value: { rows: [] } });
        all.push(seen());
        return [all.map(([number]) => number), all.map(([, count]) => count)];
    }""")
    assert missing == [8, 5, None]
    # Of 11, five are here, and one was lost.
    assert forgotten == [7, 5, 5]


def test_old_packets_on_the_air_are_missed(open_world) -> None:
    """Packets on the air make way for those of the controller, and the list says so."""
    page = open_world()

    def hint(*layers: str) -> str:
        """The hint for packets with these layers, of which "" is gone, one each second."""
        rows = [{"layer": each, "number": number, "time": number} for number, each in enumerate(layers) if each]
        return page.evaluate("async (rows) => (await import('/packets.js')).forgotten(rows)", rows)

    assert hint("hci", "", "hci", "", "air", "hci", "air").startswith("; those on the air before ")
    assert hint("hci", "hci", "air", "", "hci", "air") == ""
    assert hint("", "", "air", "hci") == ""
    assert hint("hci", "hci") == ""
    assert hint() == ""
