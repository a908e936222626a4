"""What the page looks like, by geometry and by contrast: in both schemes, on a phone, a tablet and a desktop."""
import itertools
import re
from pathlib import Path
from typing import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from conftest import PHONE, Visitor
from test_page import SECONDS, Program, picture
from test_world import restart, seeds

WIDE = {"width": 1440, "height": 900}
TABLET = {"width": 834, "height": 1112}
WINDOWS = [(size, scheme) for size in (WIDE, TABLET, PHONE) for scheme in ("light", "dark")]
NAMES = [f"{size['width']}-{scheme}" for size, scheme in WINDOWS]
VIEWS = ["world", "devices", "apps", "events", "packets", "advice"]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    program = Program("demo", "--page", "--seed", "7", log=tmp_path_factory.mktemp("design") / "log")
    yield program.line(r"(http://\S+)")
    program.end()


@pytest.fixture
def open_page(browser: Browser, world: str) -> Iterator:
    """Opens the page with a world that has just begun and runs."""
    visitors: list[Visitor] = []

    def new(size: dict[str, int], scheme: str = "light") -> Page:
        visitors.append(Visitor(browser, world.partition("#")[0], size, scheme))
        page = visitors[-1].page
        page.goto(world)
        expect(page.locator(".map")).to_be_visible(timeout=SECONDS * 1_000)
        restart(page, str(next(seeds)))
        return page

    yield new
    for visitor in visitors:
        visitor.context.close()
    assert not [fault for each in visitors for fault in each.faults]


@pytest.fixture
def own_world(tmp_path: Path) -> Iterator[str]:
    """The address of a world that nobody has visited."""
    program = Program("demo", "--page", "--seed", "7", log=tmp_path / "log")
    yield program.line(r"(http://\S+)")
    program.end()


def run_to(page: Page, seconds: int) -> None:
    """Lets the time of the world pass, faster than the clock, and stops it."""
    page.get_by_label("Speed").select_option("10")
    if page.get_by_role("button", name="Run", exact=True).is_visible():
        page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_function(
        "(least) => { const [m, s] = document.getElementById('world-time').textContent.split(':'); return m * 60 + +s >= least; }",
        arg=seconds, timeout=SECONDS * 1_000)
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_visible(timeout=SECONDS * 1_000)


def test_a_world_waits_for_its_first_visitor(browser: Browser, own_world: str) -> None:
    page = browser.new_page(viewport=WIDE)
    page.goto(own_world)
    expect(page.get_by_text("press Run")).to_be_visible(timeout=SECONDS * 1_000)
    clock = page.get_by_label("Time of the world")
    page.wait_for_timeout(500)
    expect(clock).to_have_text("00:00.000")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(clock).not_to_have_text("00:00.000")
    expect(page.get_by_text("press Run")).to_be_hidden()
    page.close()


def test_a_page_that_opens_later_has_all_packets_of_a_paused_world(browser: Browser, own_world: str) -> None:
    """Also those of the first instant, however many there are: a click on a line of the story finds each."""
    pages = [browser.new_page(viewport=WIDE)]
    pages[0].goto(own_world)
    expect(pages[0].locator(".map")).to_be_visible(timeout=SECONDS * 1_000)
    run_to(pages[0], 75)
    pages += [browser.new_page(viewport=WIDE) for _ in range(2)]
    for page in pages[1:]:
        page.goto(own_world)
        expect(page.locator(".map")).to_be_visible(timeout=SECONDS * 1_000)
    counts = []
    for page in pages:
        page.get_by_role("link", name="Packets").click()
        page.get_by_role("button", name="Keep at the end").click()
        page.get_by_role("listbox", name="Packets").press("Home")
        expect(page.get_by_role("option", name=re.compile("Command Complete: Read BD_ADDR .* ms$")).first).to_be_visible()
        page.get_by_label("Filter packets").fill("ADV_IND")
        # The first one came before the system knew the device.
        expect(page.get_by_role("listbox", name="Packets").get_by_role("option").last).to_have_text(
            re.compile(r'\d+ × ADV_IND: .*name "Heart Rate", services Heart Rate'))
        page.get_by_label("Filter packets").fill("")
        page.get_by_role("button", name="Idle packets").click()
        shown = page.locator("#packets-count")
        expect(shown).to_have_text(re.compile(r"^\d+ packets$"), timeout=SECONDS * 1_000)
        counts.append(int(shown.inner_text().split()[0]))
        page.get_by_role("listbox", name="Packets").press("Home")
        expect(page.locator("[data-index='0']")).to_have_text(re.compile(r"^00:00\.000 . HCI"))
        page.get_by_role("link", name="Apps").click()
        # The life of the app began before this page was open.
        expect(page.get_by_role("img", name=re.compile("^The life of watch")).locator(".foreground")).to_be_visible()
    assert counts[0] == counts[1] == counts[2] and counts[0] > 5_000, counts
    page = pages[1]
    page.get_by_role("link", name="World").click()
    page.get_by_role("listbox", name="Story").get_by_role("option").nth(8).click()
    expect(page.get_by_role("listbox", name="Packets").get_by_role("option", selected=True)).to_have_count(1)
    expect(page.get_by_role("alert")).to_be_hidden()
    for page in pages:
        page.close()


def test_a_tablet_has_the_tools_of_packets_in_two_rows(open_page) -> None:
    page = open_page(TABLET)
    page.get_by_role("link", name="Packets").click()
    names = ["packets-isFolded", "packets-showsIdle", "packets-follow", "packets-btsnoop", "packets-pcapng"]
    boxes = [page.locator(f"#{name}").bounding_box() for name in names]
    assert len({box and box["y"] for box in boxes}) == 1, boxes
    place = page.locator(".filter").bounding_box()
    assert place and place["width"] > 400


def inside(page: Page, selector: str) -> list[str]:
    """Those of the elements that are not in the window, or hidden by what scrolls around them."""
    return page.evaluate("""(selector) => [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility()).filter((each) => {
        const { left, top, right, bottom } = each.getBoundingClientRect();
        const corners = [[left + 2, top + 2], [right - 2, bottom - 2]];
        return !corners.every(([x, y]) => each.contains(document.elementFromPoint(x, y)));
    }).map((each) => each.id || each.textContent.slice(0, 40))""", selector)


def test_the_controls_are_beside_the_map_and_above_the_fold(open_page) -> None:
    page = open_page(WIDE)
    run_to(page, 5)
    assert page.locator("#view").evaluate("each => each.scrollHeight <= each.clientHeight")
    assert page.locator(".side").evaluate("each => each.scrollHeight <= each.clientHeight")
    assert inside(page, ".world button:not(.thing), .world select, .world input, .world summary") == []
    area, side, save = (page.locator(each).bounding_box() for each in (".map", ".side", "#world-save"))
    assert area and side and save
    assert side["x"] >= area["x"] + area["width"] and side["y"] == area["y"]
    assert save["y"] + save["height"] <= area["y"]
    picture(page, "design-world-1440")


def test_on_a_phone_the_map_the_state_and_the_last_events_are_in_the_first_screen(open_page) -> None:
    page = open_page(PHONE)
    run_to(page, 5)
    page.locator("#view").evaluate("each => { each.scrollTop = 0; }")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    for selector in (".map", ".label .state >> nth=0", "#radio", "#world-run", "#world-time"):
        box = page.locator(selector).bounding_box()
        assert box and box["y"] >= 0 and box["y"] + box["height"] <= PHONE["height"], selector
    # The last event as a whole.
    story, last = page.locator(".story").bounding_box(), page.locator(".story > div").last.bounding_box()
    assert story and last and story["height"] >= 150
    assert story["y"] + story["height"] <= PHONE["height"] and last["y"] + last["height"] <= story["y"] + story["height"] + 1
    picture(page, "design-world-390")


def overlaps(page: Page, selector: str) -> list[list[str]]:
    """The pairs of labels that overlap, and the labels that are cut off or over the link."""
    return page.evaluate("""(selector) => {
        const area = document.querySelector(selector);
        const frame = area.getBoundingClientRect();
        const labels = [...area.querySelectorAll('.label')].filter((each) => each.checkVisibility({ visibilityProperty: true }));
        const boxes = labels.map((each) => ({ text: each.textContent, box: each.getBoundingClientRect() }));
        const faults = [];
        boxes.forEach(({ text, box }, index) => {
            if (box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom) faults.push([text, 'cut off']);
            for (const other of boxes.slice(index + 1)) {
                if (box.left < other.box.right && other.box.left < box.right && box.top < other.box.bottom && other.box.top < box.bottom) {
                    faults.push([text, other.text]);
                }
            }
            const link = area.querySelector('line.link');
            if (!link) return;
            const [x1, y1, x2, y2] = ['x1', 'y1', 'x2', 'y2'].map((name) => Number(link.getAttribute(name)));
            for (let share = 0; share <= 1; share += 0.005) {
                const [x, y] = [frame.left + area.clientLeft + x1 + share * (x2 - x1), frame.top + area.clientTop + y1 + share * (y2 - y1)];
                if (x > box.left && x < box.right && y > box.top && y < box.bottom) { faults.push([text, 'over the link']); break; }
            }
        });
        return [boxes.length, faults];
    }""", selector)


# A map in the page with as many devices as the test says, in the same places each time.
MAP = """async (count) => {
    const { WorldMap } = await import('/worldmap.js');
    const random = (() => { let state = 7; return () => (state = state * 16807 % 2147483647) / 2147483647; })();
    const devices = Array.from({ length: count }, (_, index) => ({ key: `d${index}`, name: `Device ${index}`, words: 'in range, advertising',
        x: Math.round((random() - 0.5) * 200), y: Math.round((random() - 0.5) * 120) }));
    const map = new WorldMap(() => {});
    document.getElementById('view').replaceChildren(map.open());
    map.area.id = 'many';
    map.area.style.height = '500px';
    map.show({ devices, isConnected: true, isInRange: true, rssi: -70, range: 68.1, milliseconds: 1 });
    return devices.length;
}"""
RINGS = """async (count) => {
    const { Rings } = await import('/rings.js');
    const random = (() => { let state = 7; return () => (state = state * 16807 % 2147483647) / 2147483647; })();
    const devices = Array.from({ length: count }, (_, index) => ({ name: `Device ${index}`, rssi: -40 - Math.round(random() * 50),
        identifier: Math.floor(random() * 4e9).toString(16).padStart(8, '0') + '-0000' }));
    const rings = new Rings();
    rings.view.id = 'many';
    document.getElementById('view').replaceChildren(rings.view);
    rings.show(devices);
    return devices.length;
}"""


@pytest.mark.parametrize("count", [2, 20, 200])
@pytest.mark.parametrize("script", [MAP, RINGS], ids=["map", "rings"])
def test_labels_never_overlap(open_page, script: str, count: int) -> None:
    for size in (WIDE, PHONE):
        page = open_page(size)
        page.goto(f"{page.url.partition('#')[0]}#advice")
        page.evaluate(script, count)
        shown, faults = overlaps(page, "#many")
        assert not faults, (size, faults[:5])
        # Of many, those with room; of two, both.
        assert shown >= min(count, 10), (size, shown)
        if count == 200:
            picture(page, f"design-labels-{'map' if script is MAP else 'rings'}-{size['width']}")


# Two devices at many places, and the largest distance of a label from its mark, or 1000 for a label that is not shown.
EVERYWHERE = """async ([width, height]) => {
    const { WorldMap } = await import('/worldmap.js');
    const map = new WorldMap(() => {});
    document.getElementById('view').replaceChildren(map.open());
    Object.assign(map.area.style, { width: `${width}px`, height: `${height}px` });
    let worst = [0];
    const xs = [-119, -60, 0, 60, 119], ys = [-74, 0, 74];
    for (const x of xs) for (const y of ys) for (const x2 of xs) for (const y2 of ys) {
        map.show({ devices: [{ key: 'a', name: 'Phone', x, y, words: 'connected' },
            { key: 'b', name: 'Heart Rate', x: x2, y: y2, words: 'out of range, the link is about to end' }],
            isConnected: true, isInRange: true, rssi: -70, linkWords: '-70 dBm, encrypted', range: 68.1, milliseconds: 1, isRunning: true });
        for (const { mark, label } of map.things.values()) {
            const [one, other] = [mark.getBoundingClientRect(), label.getBoundingClientRect()];
            const far = getComputedStyle(label).visibility === 'hidden' ? 1000 : Math.hypot(
                Math.max(0, one.left - other.right, other.left - one.right), Math.max(0, one.top - other.bottom, other.top - one.bottom));
            if (far > worst[0]) worst = [far, x, y, x2, y2, label.textContent];
        }
    }
    return worst;
}"""


@pytest.mark.parametrize("size", [(366, 337), (800, 511), (1000, 500)], ids=str)
def test_labels_are_beside_their_devices_at_each_place(browser: Browser, assets: str, size: tuple[int, int]) -> None:
    """Also at the edges of a narrow map, and with a link through its middle."""
    page = browser.new_page(viewport=WIDE)
    page.goto(f"{assets}/index.html")
    worst = page.evaluate(EVERYWHERE, size)
    page.close()
    assert worst[0] < 80, worst


def test_labels_leave_the_link_free_at_each_place(open_page) -> None:
    page = open_page(WIDE)
    run_to(page, 5)
    thing = page.get_by_role("button", name=re.compile("^Heart Rate at"))
    for key, count in itertools.product(["ArrowLeft", "ArrowDown"], range(12)):
        thing.press(f"Shift+{key}")
        _, faults = overlaps(page, ".map")
        assert not faults, (key, count, faults)


def test_the_map_is_zoomed_and_moved(open_page) -> None:
    page = open_page(WIDE)
    run_to(page, 5)
    thing = page.get_by_role("button", name=re.compile("^Phone at"))
    before = thing.bounding_box()
    area = page.locator(".map").bounding_box()
    assert area and before
    page.mouse.move(area["x"] + 40, area["y"] + 40)
    page.mouse.down()
    page.mouse.move(area["x"] + 140, area["y"] + 90, steps=3)
    page.mouse.up()
    after = thing.bounding_box()
    assert after and round(after["x"] - before["x"]) == 100 and round(after["y"] - before["y"]) == 50
    heart = page.get_by_role("button", name=re.compile("^Heart Rate at"))

    def distance() -> float:
        one, other = thing.bounding_box(), heart.bounding_box()
        assert one and other
        return ((one["x"] - other["x"]) ** 2 + (one["y"] - other["y"]) ** 2) ** 0.5

    near = distance()
    page.get_by_role("button", name="Zoom in").click()
    assert distance() > 1.3 * near
    page.get_by_role("button", name="Show all devices").click()
    assert abs(distance() - near) < 1
    # Nothing was done to the world.
    expect(page.get_by_label("Story", exact=True)).not_to_contain_text("moves to")


def test_a_device_out_of_range_looks_different(open_page) -> None:
    page = open_page(WIDE)
    run_to(page, 5)
    thing = page.get_by_role("button", name=re.compile("^Heart Rate at"))
    expect(thing).to_have_class(re.compile("connected"))
    page.get_by_role("button", name="Take out of range").click()
    expect(thing).to_have_class(re.compile("lost"))
    expect(page.locator(".map .label .state").last).to_have_text("out of range, the link is about to end")
    page.get_by_role("button", name="Bring back into range").click()
    expect(thing).not_to_have_class(re.compile("lost"))


# The contrast of each text with what is behind it (WCAG 2.2, 1.4.3): 4.5, or 3 for large text. What cannot be used is exempt.
CONTRAST = """() => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true });
    const over = (color, [red, green, blue]) => {
        canvas.fillStyle = `rgb(${red}, ${green}, ${blue})`; canvas.fillRect(0, 0, 1, 1);
        canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const behind = (element) => element ? over(getComputedStyle(element).backgroundColor, behind(element.parentElement)) : [255, 255, 255];
    const light = (color) => color.map((each) => each / 255).map((each) => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)
        .reduce((sum, each, index) => sum + each * [0.2126, 0.7152, 0.0722][index], 0);
    const faults = [];
    let count = 0;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !element.checkVisibility({ visibilityProperty: true })) continue;
        if (element.closest('[aria-disabled=true], :disabled, svg, option, script, noscript')) continue;
        const style = getComputedStyle(element);
        const ground = behind(element);
        const [one, other] = [light(over(style.color, ground)), light(ground)];
        const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        const size = parseFloat(style.fontSize);
        count += 1;
        if (ratio < (size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5)) {
            faults.push(`${ratio.toFixed(2)} ${style.color} on ${ground}: ${walker.currentNode.data.slice(0, 40)}`);
        }
    }
    return [count, faults];
}"""


@pytest.mark.parametrize(("size", "scheme"), WINDOWS, ids=NAMES)
def test_each_view_has_contrast_and_no_findings(open_page, size: dict[str, int], scheme: str) -> None:
    """AA in both schemes, as this script and axe-core compute it, and nothing wider than the window."""
    page = open_page(size, scheme)
    run_to(page, 5)
    for view in VIEWS:
        page.goto(f"{page.url.partition('#')[0]}#{view}")
        if view in ("events", "packets"):
            page.locator("#view [role=option]").last.click()
            expect(page.locator(".detail")).to_be_visible()
        page.wait_for_timeout(300)
        picture(page, f"design-{view}-{size['width']}-{scheme}")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), view
        count, faults = page.evaluate(CONTRAST)
        assert count > 10 and not faults, (view, faults)
        found = [f"{each['id']}: {node['html']}: {node['failureSummary']}" for each in Axe().run(page).response["violations"]
                 for node in each["nodes"][:3]]
        assert not found, (view, found)
