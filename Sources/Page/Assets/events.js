import { clock, element } from "./elements.js";

const HEIGHT = 24;
const BESIDE = 10;

/** The events of the system as they come. Only those in sight are elements. */
export class Events {
  constructor(page) {
    this.page = page;
    this.parts = ["events"];
    this.kind = "";
    this.filter = "";
    this.follows = true;
    this.shown = [];
    this.next = 0;
  }

  open(view) {
    const kinds = ["state", "managers", "messages", "links", "notices", "misuse", "trouble", "host", "privacy",
      "security", "access"];
    const kind = element("select", {
      id: "event-kind", "aria-label": "Kind of event", onchange: (event) => { this.kind = event.target.value; this.again(); },
    }, element("option", { value: "" }, "All kinds"), ...kinds.map((each) => element("option", {}, each)));
    kind.value = this.kind;
    const filter = element("input", {
      type: "search", id: "event-filter", placeholder: "App, device or text", "aria-label": "Filter events",
      oninput: (event) => { this.filter = event.target.value.toLowerCase(); this.again(); },
    });
    filter.value = this.filter;
    this.button = element("button", {
      id: "follow", "aria-pressed": this.follows, onclick: () => this.follow(!this.follows),
    }, "Follow");
    this.count = element("span", { class: "quiet" });
    this.inside = element("div", { role: "list" });
    this.area = element("div", {
      class: "events", tabindex: 0, role: "region", "aria-label": "Events",
      onscroll: () => this.scrolled(), onwheel: () => this.follow(false),
    }, this.inside);
    view.replaceChildren(element("div", { class: "tools" }, kind, filter, this.button, this.count), this.area);
    this.again();
  }

  follow(follows) {
    this.follows = follows;
    this.button.setAttribute("aria-pressed", follows);
    this.show();
  }

  again() {
    this.shown = [];
    this.next = this.page.model.firstEvent;
    this.show();
  }

  fits(event) {
    if (this.kind && event.kind !== this.kind) return false;
    if (!this.filter) return true;
    return [event.app, event.peer, event.text].some((each) => (each ?? "").toLowerCase().includes(this.filter));
  }

  show() {
    const { events, firstEvent, lost, refusals } = this.page.model;
    if (this.next < firstEvent) this.next = firstEvent;
    for (; this.next < firstEvent + events.length; this.next += 1) {
      const event = events[this.next - firstEvent];
      if (this.fits(event)) this.shown.push(event);
    }
    if (this.shown.length > events.length + 2000) this.shown.splice(0, this.shown.length - events.length);
    const refusal = refusals.get("event");
    this.count.textContent = refusal ?? `${this.shown.length} events` + (lost ? `, ${lost} lost` : "");
    this.inside.style.height = `${this.shown.length * HEIGHT}px`;
    if (this.follows) this.area.scrollTop = this.area.scrollHeight;
    this.draw();
  }

  scrolled() { this.draw(); }

  draw() {
    const first = Math.max(0, Math.floor(this.area.scrollTop / HEIGHT) - BESIDE);
    const last = Math.min(this.shown.length, Math.ceil((this.area.scrollTop + this.area.clientHeight) / HEIGHT) + BESIDE);
    const rows = [];
    for (let index = first; index < last; index += 1) rows.push(this.row(this.shown[index], index));
    this.inside.replaceChildren(...rows);
  }

  row(event, index) {
    const made = element("div", { class: "event", role: "listitem" },
      `${clock(event.date)}  ${event.kind.padEnd(9)} ${event.text}`);
    made.style.top = `${index * HEIGHT}px`;
    return made;
  }
}
