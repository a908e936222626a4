import { clock, count, element } from "./elements.js";
import { ListView, LongList } from "./list.js";

const LAYERS = [["", "All layers"], ["hci", "HCI"], ["l2cap", "L2CAP"], ["att", "ATT"], ["smp", "SMP"]];
const MOST_OPTIONS = 500;
// A link consists of empty PDUs mostly.
const EMPTY = "Empty PDU";
const HELP = "→ to the controller, ← from it; on the air, → from this device, ← from others. Save writes what the filter selects.";
const ALL = { layer: "", device: "", app: "", text: "", empty: "no" };

/** The packets between the host and its controller, in a world also those on the air, and one of them layer by layer. */
export class Packets extends ListView {
  constructor(page) {
    super(page, "packets");
    this.parts = ["packets", "packet"];
    this.filters = { ...ALL };
  }

  open(view) {
    this.button = element("button", {
      id: "packets-on", class: "main", onclick: () => this.page.followPackets(!this.page.wantsPackets),
    });
    this.layer = this.select("layer", "Layer", LAYERS);
    this.device = this.select("device", "Device", [["", "All devices"]]);
    this.app = this.select("app", "App", [["", "All apps"]]);
    this.options = { layer: new Set(LAYERS.map(([name]) => name)), device: new Set([""]), app: new Set([""]) };
    const text = element("input", {
      type: "search", id: "packet-text", placeholder: "Text", "aria-label": "Filter packets",
      oninput: (event) => { this.filters.text = event.target.value.toLowerCase(); this.again(); },
    });
    text.value = this.filters.text;
    this.empty = element("button", { id: "packets-empty", hidden: true, onclick: () => this.showEmpty() }, "Empty PDUs");
    const saves = ["btsnoop", "pcapng"].map((format) => element("button", {
      id: `packets-${format}`, title: "Saves the packets that the filter selects",
      onclick: () => this.page.send({ verb: "save", format, query: this.query }),
    }, `Save ${format}`));
    this.count = element("span", { class: "quiet" });
    this.detail = element("section", { class: "detail", "aria-label": "Packet", tabindex: 0, hidden: true });
    this.list = new LongList({
      id: "packet-list", label: "Packets", onFollow: (follows) => this.follow(follows),
      row: (packet) => this.row(packet), onChoose: (packet) => this.choose(packet),
    });
    this.list.area.setAttribute("aria-describedby", "packets-help");
    view.replaceChildren(element("div", { class: "columns" },
      element("div", { class: "tools" }, this.button, this.layer, this.device, this.app, text, this.empty,
        this.followButton("packets-follow"), ...saves, this.count),
      element("p", { class: "quiet help", id: "packets-help" }, HELP), this.list.area, this.detail));
    const number = Number(location.hash.split("/")[1]);
    if (number) {
      this.wanted = number;
      const packet = this.page.model.packets.items.find((each) => each.number === number);
      if (!packet || !this.fits(packet)) {
        for (const each of [this.layer, this.device, this.app, text]) each.value = "";
        this.filters = { ...ALL };
      }
    }
    this.described = null;
    this.again();
  }

  select(name, label, options) {
    const made = element("select", {
      id: `packet-${name}`, "aria-label": label,
      onchange: (event) => { this.filters[name] = event.target.value; this.again(); },
    }, ...options.map(([value, words]) => element("option", { value }, words)));
    made.value = this.filters[name];
    return made;
  }

  /** Offers a device or an app in a filter. */
  offer(name, value, words) {
    const known = this.options[name];
    if (!value || known.has(value) || known.size >= MOST_OPTIONS) return;
    known.add(value);
    this[name].append(element("option", { value }, words));
    if (this.filters[name] === value) this[name].value = value;
  }

  showEmpty() {
    this.filters.empty = this.filters.empty ? "" : "no";
    this.again();
  }

  row(packet) {
    return `${clock(packet.time)} ${packet.isReceived ? "←" : "→"} ${packet.layer.toUpperCase().padEnd(5)} ${packet.text}`;
  }

  again() {
    this.list.clear();
    this.next = this.page.model.packets.first;
    this.empty.setAttribute("aria-pressed", `${!this.filters.empty}`);
    this.show();
  }

  /** The filters, as the server reads them. */
  get query() {
    return Object.entries(this.filters).filter(([, value]) => value)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  }

  fits(packet) {
    const { layer, device, app, text, empty } = this.filters;
    if (empty && packet.layer === "air" && packet.text === EMPTY && packet.number !== this.wanted) return false;
    if ((layer && packet.layer !== layer) || (device && packet.peer !== device) || (app && packet.app !== app)) return false;
    return !text || packet.text.toLowerCase().includes(text);
  }

  learn(packet) {
    if (packet.peer) this.offer("device", packet.peer, this.page.nameOf(packet.peer));
    if (packet.app) this.offer("app", packet.app, packet.app);
    if (packet.layer === "air") {
      this.offer("layer", "air", "Air");
      this.empty.hidden = false;
    }
  }

  show() {
    const { packets, refusals } = this.page.model;
    // Another system has other packets, and so has one of which some in the middle are gone.
    this.take(packets, packets.items, packets.first);
    this.button.textContent = this.page.wantsPackets ? "Stop capturing" : "Capture packets";
    const lost = packets.lost ? `, ${packets.lost} lost` : "";
    this.count.textContent = refusals.get("packets") ??
      count(this.list.items.length, "packet") + lost + forgotten(packets.items);
    if (this.showList()) this.list.area.focus({ preventScroll: true });
    this.describe();
  }

  choose(packet) {
    this.page.send({ verb: "packet", packet: packet.number });
    this.described = null;
    this.describe();
  }

  describe() {
    const { packet } = this.page.model;
    const { chosen } = this.list;
    if (!chosen || packet?.number !== chosen.number || this.described === packet) return;
    this.described = packet;
    const event = this.page.model.eventOf(chosen);
    const line = this.page.model.world ? this.page.model.lineAt(chosen) : -1;
    this.detail.hidden = false;
    this.detail.replaceChildren(
      element("dl", {}, ...packet.parts.flatMap((part) => [
        element("dt", {}, part.layer.toUpperCase()), element("dd", {}, part.text)])),
      element("pre", { class: "code", tabindex: 0, role: "group", "aria-label": "Octets" }, dump(packet.octets)),
      element("div", { class: "verbs" },
        event ? element("a", { href: `#events/${event.number}`, id: "to-event" },
          event.isExact ? "Show its event" : "Show the event at its time") : null,
        line >= 0 ? element("a", { href: `#world/${line + 1}`, id: "to-story" }, "Show it in the story") : null,
        chosen.peer ? element("a", { href: `#device/${chosen.peer}`, id: "to-device" }, this.page.nameOf(chosen.peer)) : null,
        chosen.app ? element("a", { href: "#apps", id: "to-app" }, chosen.app) : null));
    this.list.reveal();
  }
}

/** Says from when on there are packets on the air, if older ones have made way for packets of the controller. */
export function forgotten(items) {
  const first = items.findIndex((packet) => packet.layer === "air");
  // The numbers have gaps where packets are gone.
  if (first < 0 || items[first].number - items[0].number <= first) return "";
  return `; those on the air before ${clock(items[first].time)} are no longer kept`;
}

/** Octets in lines of sixteen, with their places. */
function dump(hexadecimal) {
  const lines = [];
  for (let place = 0; place < hexadecimal.length; place += 32) {
    const octets = hexadecimal.slice(place, place + 32).match(/../g) ?? [];
    lines.push(`${(place / 2).toString(16).padStart(4, "0")}  ${octets.join(" ")}`);
  }
  return lines.join("\n");
}
