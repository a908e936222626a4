import { clock, count, element } from "./elements.js";
import { ListView, LongList } from "./list.js";

const KINDS = ["state", "managers", "messages", "links", "notices", "misuse", "trouble", "host", "privacy", "security",
  "access"];

const TROUBLE = /link ended|crashed|failed|refused|timed out|not permitted|misuse/i;

/** The events of the system as they come, and one of them with its packets. */
export class Events extends ListView {
  constructor(page) {
    super(page, "events");
    this.parts = ["events"];
    this.kind = "";
    this.filter = "";
  }

  open(view) {
    const kind = element("select", {
      id: "event-kind", "aria-label": "Kind of event", onchange: (event) => { this.kind = event.target.value; this.again(); },
    }, element("option", { value: "" }, "All kinds"), ...KINDS.map((each) => element("option", {}, each)));
    kind.value = this.kind;
    const filter = element("input", {
      type: "search", id: "event-filter", placeholder: "App, device or text", "aria-label": "Filter events",
      oninput: (event) => { this.filter = event.target.value.toLowerCase(); this.again(); },
    });
    filter.value = this.filter;
    this.count = element("span", { class: "quiet small" });
    this.detail = element("section", { class: "detail", "aria-label": "Event", hidden: true });
    this.list = new LongList({
      id: "event-list", label: "Events", kind: "log", onFollow: (follows) => this.follow(follows),
      row: (event) => [[clock(event.date), ""], [event.kind, "quiet"], [event.text, TROUBLE.test(event.text) ? "what tone bad" : "what"]]
        .flatMap(([words, kind]) => [element("span", { class: kind || null }, words), " "]),
      onChoose: (event) => this.describe(event),
    });
    view.replaceChildren(element("div", { class: "columns" },
      element("div", { class: "tools" }, kind, filter, this.followButton("follow"), this.count),
      element("div", { class: "heads log", "aria-hidden": true }, element("span", {}, "Time"), element("span", {}, "Kind"),
        element("span", {}, "What")), this.list.area, this.detail));
    const number = Number(location.hash.split("/")[1]);
    if (number) {
      const event = this.page.model.events.find((each) => each.number === number);
      if (!event || !this.fits(event)) [this.kind, this.filter, kind.value, filter.value] = ["", "", "", ""];
      this.wanted = number;
    }
    this.again();
  }

  again() {
    this.list.items = [];
    this.next = this.page.model.firstEvent;
    this.show();
  }

  fits(event) {
    if (this.kind && event.kind !== this.kind) return false;
    if (!this.filter) return true;
    return [event.app, event.peer, event.text].some((each) => (each ?? "").toLowerCase().includes(this.filter));
  }

  show() {
    const { events, firstEvent, lost, leftOut, refusals } = this.page.model;
    // Another system has other events.
    this.take(events, events, firstEvent);
    const refusal = refusals.get("event");
    this.count.textContent = refusal ?? count(this.list.items.length, "event") + (lost ? `, ${lost} lost` : "") +
      (leftOut ? `, ${leftOut} about discoveries left out` : "");
    this.showList();
  }

  describe(event) {
    const packet = this.page.model.packetOf(event);
    this.detail.hidden = false;
    this.detail.replaceChildren(
      element("p", {}, event.text),
      element("p", { class: "quiet" }, [`Event ${event.number}`, event.kind, event.app,
        event.peer ? this.page.nameOf(event.peer) : null].filter(Boolean).join(", ")),
      element("div", { class: "verbs" },
        packet ? element("a", { href: `#packets/${packet.number}`, id: "to-packet" },
          packet.isExact ? "Show its packet" : "Show the packet at its time") : null,
        this.page.model.world ? element("a", { href: `#why/event/${event.number}`, id: "to-why" }, "Why?") : null,
        event.cause ? element("a", { href: `#events/${event.cause}`, id: "to-cause" }, "Show its cause") : null,
        event.app ? element("a", { href: "#apps", id: "to-app" }, "Show the app") : null));
  }
}
