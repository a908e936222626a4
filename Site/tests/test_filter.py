"""The filters of the packets of a page: the language by tables, and the field with its completion by the keyboard."""
from typing import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from conftest import Visitor

# Packets by a word that tells them apart.
PACKETS = {
    "reset": {"layer": "hci", "text": "Reset (0x0c03)", "time": 1.0},
    "flow": {"layer": "hci", "text": "Number Of Completed Packets: Num_Handles: 1", "isReceived": True, "time": 2.0},
    "connected": {"layer": "hci", "text": "LE Connection Complete: Status: success (0x0), Connection_Handle: 0x21", "isReceived": True, "time": 2.5},
    "report": {"layer": "hci", "text": 'LE Advertising Report: C6:05:04:03:02:01, name "Polar", ADV_IND, -60 dBm', "isReceived": True,
               "peer": "b", "rssi": -60, "time": 3.0},
    "beacon": {"layer": "air", "text": "ADV_IND: C6:05:04:03:02:01", "isReceived": True, "peer": "b", "rssi": -90, "time": 3.2},
    "empty": {"layer": "air", "text": "Empty PDU", "peer": "a", "rssi": -80, "time": 3.5},
    "read": {"layer": "att", "text": "Read Request: Attribute Handle: 0x21", "peer": "a", "app": "watch", "time": 4.0},
    "denied": {"layer": "att", "text": "Error Response: Request Opcode In Error: 0xa, Attribute Handle In Error: 0x21, Error Code: x",
               "peer": "a", "app": "watch", "isReceived": True, "latency": 0.12, "time": 65.5},
    "table": {"layer": "att", "text": "Find Information Response: Format: 1, Handle: 0x9, UUID: 2902, Handle: 0x30, UUID: 2900",
              "peer": "a", "isReceived": True, "latency": 0.03, "time": 70.0},
}
NAMES = {"a": "Heart Rate", "b": "Polar H10"}
ALL = " ".join(PACKETS)

# Filters, and the packets that they select.
SELECTED = {
    "": ALL,
    "   ": ALL,
    "att": "read denied table",
    "ATT": "read denied table",
    "att and received": "denied table",
    "att received": "denied table",
    "att && sent": "read",
    "error": "denied",
    "not att and not hci": "beacon empty",
    "!att !hci": "beacon empty",
    "not (att or hci)": "beacon empty",
    "not not att": "read denied table",
    # "and" binds more than "or", and "not" more than both.
    "reset or att and received": "reset denied table",
    "(reset or att) and received": "denied table",
    "att and received or reset": "reset denied table",
    "not att or error": "reset flow connected report beacon empty denied",
    "not (att or error)": "reset flow connected report beacon empty",
    "advertising": "report beacon",
    "flow": "flow",
    "empty || flow": "flow empty",
    "handle == 0x0021": "read denied",
    "handle == 33": "read denied",
    "handle = 0x30": "table",
    "handle>=0x22": "table",
    # A packet without the field fits no comparison.
    "handle != 0x21": "table",
    "rssi < -80": "beacon",
    "rssi <= -80": "beacon empty",
    "rssi > -0x46": "report",
    "not rssi < -80": "reset flow connected report empty read denied table",
    "time > 3.2": "empty read denied table",
    "time >= 3.2 time < 4": "beacon empty",
    "time > 01:05.000": "denied table",
    "time > 0:01:05.5": "table",
    "latency > 100": "denied",
    'device "Polar"': "report beacon",
    "device polar": "report beacon",
    'device == "polar h10"': "report beacon",
    "device == polar": "",
    'device != "Heart Rate"': "report beacon",
    "device b": "report beacon",
    "app watch": "read denied",
    "app": None,
    '"heart"': "",
    "read": "read",
    "le connection": "connected",
    '"le adv"': "report",
    "'name \"Polar\"'": "report",
    "ADV_IND": "report beacon",
    # A word in quotation marks is a text, whatever it means without.
    '"error"': "denied",
    '"att"': "read denied",
    "constructor": "",
}

# Wrong filters, with the character and what is said.
WRONG = {
    "handle": (7, "handle needs a comparison, such as handle < 0x0021"),
    "handle 3": (8, "handle needs a comparison"),
    "handle ==": (10, "a number is missing after =="),
    "handle == x": (11, "x is no number, such as 0x0021"),
    "handle == 1 ==": (13, "a condition is missing before =="),
    "handle ! 3": (8, "handle needs a comparison"),
    "rssi < -": (8, "- is no number"),
    "rssi < 1e5": (8, "1e5 is no number"),
    "time > 1:99": (8, "1:99 is no number"),
    "device": (7, 'device needs a text, such as device "Heart Rate"'),
    "device < a": (8, "device is text, and has no <"),
    "device and att": (8, "device needs a text"),
    "att == 3": (5, "att has no value; write att, or not att"),
    "hndle == 3": (1, "there is no field hndle"),
    "constructor == 1": (1, "there is no field constructor"),
    "att and": (8, "the filter ends where a condition is missing"),
    "att or or smp": (8, "a condition is missing before or"),
    "and att": (1, "a condition is missing before and"),
    "not": (4, "the filter ends where a condition is missing"),
    "(att": (1, "( has no matching )"),
    "att)": (4, ") has no matching ("),
    "()": (2, "a condition is missing before )"),
    '"att': (1, "a quotation mark is missing"),
    'device "Po': (8, "a quotation mark is missing"),
    "!" * 60 + "att": (51, "the filter is nested too deeply"),
    "(" * 60: (51, "the filter is nested too deeply"),
}

OFFERS = {"device": ["Heart Rate", "Polar"], "app": ["watch"], "words": ["Read Request", "ADV_IND"]}

# What is typed, what is offered first, and what it becomes with the first one.
COMPLETED = {
    "": (["hci", "l2cap", "att"], "hci"),
    "ha": (["handle"], "handle"),
    "handle ": (["==", "!="], "handle =="),
    "handle == ": (["0x0021"], "handle == 0x0021"),
    "device ": (["Heart Rate", "Polar", "=="], 'device "Heart Rate"'),
    "device po": (["Polar"], "device Polar"),
    'device "po': (["Polar"], "device Polar"),
    "device == h": (["Heart Rate"], 'device == "Heart Rate"'),
    "app ": (["watch"], "app watch"),
    "att ": (["and", "or"], "att and"),
    "att a": (["and", "att", "air"], "att and"),
    "att and er": (["error"], "att and error"),
    "not (sm": (["smp"], "not (smp"),
    "not ": (["hci"], "not hci"),
    "read": (["Read Request"], '"Read Request"'),
    "adv": (["advertising", "ADV_IND"], "advertising"),
    "rssi < -80 o": (["or", "error"], "rssi < -80 or"),
    "zzz": ([], None),
}


@pytest.fixture(scope="module")
def language(browser: Browser, assets: str) -> Iterator[Page]:
    """A page that has the scripts, and times that count from 0."""
    visitor = Visitor(browser, assets, {"width": 800, "height": 600}, "light")
    visitor.page.goto("/index.html")
    visitor.page.evaluate("async () => (await import('/elements.js')).countFrom(0)")
    yield visitor.page
    visitor.context.close()
    assert not visitor.faults


SELECT = """async ([source, packets, names]) => {
    const { parse } = await import('/filter.js');
    try {
        const { test } = parse(source);
        return Object.entries(packets).filter(([, packet]) => test(packet, (peer) => names[peer])).map(([word]) => word).join(' ');
    } catch (error) { return [error.from + 1, error.message, error.to]; }
}"""


@pytest.mark.parametrize("source", SELECTED)
def test_a_filter_selects(language: Page, source: str) -> None:
    found = language.evaluate(SELECT, [source, PACKETS, NAMES])
    assert (found == SELECTED[source]) if SELECTED[source] is not None else isinstance(found, list)


@pytest.mark.parametrize("source", WRONG)
def test_a_wrong_filter_says_where_and_what(language: Page, source: str) -> None:
    character, said, end = language.evaluate(SELECT, [source, PACKETS, NAMES])
    assert character == WRONG[source][0] and WRONG[source][1] in said
    assert character - 1 <= end <= len(source)


@pytest.mark.parametrize("source", COMPLETED)
def test_a_filter_is_completed(language: Page, source: str) -> None:
    first, whole = COMPLETED[source]
    found = language.evaluate("""async ([source, offers]) => {
        const { complete } = await import('/filter.js');
        const { items, from, to } = complete(source, source.length, offers);
        return [items.map(({ text, label }) => label ?? text), items.length ? source.slice(0, from) + items[0].text + source.slice(to) : null];
    }""", [source, OFFERS])
    assert found[0][:len(first)] == first and found[1] == whole
    assert len(found[0]) <= 36


def test_any_text_is_a_filter_or_a_fault_with_a_place(language: Page) -> None:
    """Texts of the language's own parts at random, and each of their prefixes is completed."""
    odd = language.evaluate("""async () => {
        const { complete, parse, FilterError } = await import('/filter.js');
        const parts = ['att', 'handle', 'device', 'and', 'or', 'not', '!', '(', ')', '==', '<', '!=', '=', '"a', '"', "'", '0x21', '-', '3.2', ' ', 'é', '&&', '&'];
        let state = 7;
        const random = (count) => (state = state * 16807 % 2147483647) % count;
        const odd = [];
        for (let round = 0; round < 5000; round += 1) {
            const source = Array.from({ length: 1 + random(9) }, () => parts[random(parts.length)] + (random(3) ? ' ' : '')).join('');
            try { parse(source).test({ layer: 'att', text: 'x', time: 1, isReceived: true }, () => ''); } catch (error) {
                if (!(error instanceof FilterError) || error.from > source.length) odd.push([source, String(error)]);
            }
            const { from, to } = complete(source, random(source.length + 1), { device: ['a b'], app: [], words: [] });
            if (!(from <= to && to <= source.length)) odd.push([source, from, to]);
        }
        return odd;
    }""")
    assert odd == []


FIELD = """async (offers) => {
    const { FilterInput } = await import('/filterinput.js');
    window.changes = [];
    window.field = new FilterInput({ offers: () => offers, onChange: () => window.changes.push(window.field.source) });
    document.getElementById('view').replaceChildren(window.field.open());
}"""


def test_the_field_is_used_by_the_keyboard(language: Page) -> None:
    page = language
    page.evaluate(FIELD, OFFERS)
    field, offers = page.get_by_role("combobox", name="Filter packets"), page.get_by_role("listbox", name="Completions")
    field.focus()
    # Tab reaches it without an obstacle.
    expect(offers).to_be_hidden()
    page.keyboard.type("dev")
    expect(offers.get_by_role("option")).to_have_text(["device name or identifier of the other device"])
    expect(field).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowDown")
    active = field.get_attribute("aria-activedescendant")
    assert active and page.locator(f"#{active}").get_attribute("aria-selected") == "true"
    page.keyboard.press("Enter")
    expect(field).to_have_value("device ")
    # What follows is offered at once; the first and the last are neighbours.
    page.keyboard.press("ArrowUp")
    expect(offers.get_by_role("option", selected=True)).to_have_text("!=")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    expect(field).to_have_value('device "Heart Rate" ')
    page.keyboard.type("and handle")
    page.keyboard.press("Escape")
    expect(offers).to_be_hidden()
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#filter-fault")).to_have_text("Character 31: handle needs a comparison, such as handle < 0x0021")
    # The last right filter is in force.
    assert page.evaluate("window.changes").count('device "Heart Rate" and handle') == 0
    page.keyboard.type(" == 3")
    expect(page.locator("#filter-fault")).to_be_hidden()
    expect(field).to_have_attribute("aria-invalid", "false")
    assert page.evaluate("window.changes.at(-1)") == 'device "Heart Rate" and handle == 3'
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    assert page.evaluate("window.changes.at(-1)") == ""


def test_what_becomes_known_later_is_offered(language: Page) -> None:
    page = language
    page.evaluate(FIELD, OFFERS)
    field, options = page.get_by_role("combobox", name="Filter packets"), page.get_by_role("option")
    field.press_sequentially("device th")

    def learn(*names: str) -> None:
        page.evaluate("""names => {
            window.field.offers = () => ({ device: names, app: [], words: [] });
            window.field.refresh();
        }""", list(names))

    expect(options).to_have_count(0)
    learn("Thermometer")
    expect(options).to_have_text(["Thermometer"])
    field.press("ArrowDown")
    learn("Thumper", "Thermometer")
    expect(options).to_have_text(["Thumper", "Thermometer"])
    expect(page.get_by_role("option", selected=True)).to_have_text("Thermometer")
    field.press("Escape")
    learn("Third")
    expect(page.get_by_role("listbox", name="Completions")).to_be_hidden()
    field.press("ArrowDown")
    expect(options).to_have_text(["Third"])
    # Enter ends the search also where nothing is offered.
    learn("Lamp")
    expect(options).to_have_count(0)
    field.press("Enter")
    learn("Third")
    expect(options).to_have_count(0)


def test_a_completion_is_pressed(language: Page) -> None:
    page = language
    page.evaluate(FIELD, OFFERS)
    field = page.get_by_role("combobox", name="Filter packets")
    field.click()
    page.get_by_role("option", name="smp").click()
    expect(field).to_have_value("smp ")
    expect(field).to_be_focused()
    field.press("Escape")
    page.get_by_role("button", name="Clear the filter").click()
    expect(field).to_have_value("")
    expect(field).to_be_focused()
    # The middle of a filter is completed in its place.
    field.fill("dev and att")
    field.press("Home")
    for _ in range(3):
        field.press("ArrowRight")
    page.keyboard.type("i")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(field).to_have_value("device and att")
