import { clock, count, element } from "./elements.js";
import { Dissection } from "./dissection.js";
import { ListView, LongList } from "./list.js";

const LAYERS = [["", "All layers"], ["hci", "HCI"], ["l2cap", "L2CAP"], ["att", "ATT"], ["smp", "SMP"]];
const TONES = { att: "accent", smp: "secure", air: "air" };
const HEADS = [["", "Time"], ["", ""], ["", "Layer"], ["", "Device"], ["", "What"], ["after", "After"]];
const MOST_OPTIONS = 500;
const MOST_WORDS = 200;
// A link consists of empty PDUs mostly, and a controller counts all packets.
const EMPTY = "Empty PDU";
const FLOW = /^(Host )?Number Of Completed Packets/;
const ADVERTISING = /^(received with errors: )?(ADV_|AUX_|SCAN_RSP)|^LE (Extended )?Advertising Report/;
// What differs between advertisements with the same content.
const PASSING = /RSSI: -?\d+|-?\d+ dBm|Tx_Power: -?\d+/g;
const ATTRIBUTE = /^([^:]+): .*\(0x[0-9a-f]{4} (.*)\)$/;
const FAILED = /^Error Response|Command Reject|malformed|received with errors|[Pp]airing ?[Ff]ailed|^Disconnection Complete|Status: (?!success)|LL_REJECT/;
const HELP = "→ to the controller, ← from it; on the air, → from this device, ← from others. Save writes what the filter selects.";
const ALL = { layer: "", device: "", app: "", text: "", empty: "no", flow: "no" };

/** The packets between the host and its controller, in a world also those on the air, and one of them layer by layer. */
export class Packets extends ListView {
  constructor(page) {
    super(page, "packets");
    this.parts = ["packets", "packet", "world"];
    this.filters = { ...ALL };
    this.isFolded = true;
    this.forgetFolds();
  }

  open(view) {
    this.button = element("button", {
      id: "packets-on", onclick: () => this.page.followPackets(!this.page.wantsPackets),
    });
    this.layer = this.select("layer", "Layer", LAYERS);
    this.device = this.select("device", "Device", [["", "All devices"]]);
    this.app = this.select("app", "App", [["", "All apps"]]);
    this.options = { layer: new Set(LAYERS.map(([name]) => name)), device: new Set([""]), app: new Set([""]) };
    this.words = element("datalist", { id: "packet-words" });
    this.known = new Set();
    const text = element("input", {
      type: "search", id: "packet-text", list: "packet-words", placeholder: "Name or text", "aria-label": "Filter packets",
      oninput: (event) => { this.filters.text = event.target.value.toLowerCase(); this.again(); },
    });
    text.value = this.filters.text;
    this.empty = element("button", { id: "packets-empty", hidden: true, onclick: () => this.toggle("empty") }, "Empty PDUs");
    this.flow = element("button", { id: "packets-flow", title: "Number Of Completed Packets", onclick: () => this.toggle("flow") }, "Flow control");
    this.fold = element("button", { id: "packets-fold", title: "Shows each advertisement in a row of its own",
      onclick: () => { this.isFolded = !this.isFolded; this.again(); } }, "All advertising");
    const saves = ["btsnoop", "pcapng"].map((format) => element("button", {
      id: `packets-${format}`, class: "wide", title: "Saves the packets that the filter selects",
      onclick: () => this.page.send({ verb: "save", format, query: this.query }),
    }, `Save ${format}`));
    this.count = element("span", { class: "quiet small" });
    this.detail = element("section", { class: "detail", "aria-label": "Packet", tabindex: 0, hidden: true });
    this.list = new LongList({
      id: "packet-list", label: "Packets", kind: "packets", onFollow: (follows) => this.follow(follows),
      row: (packet) => this.row(packet), onChoose: (packet) => this.choose(packet),
    });
    this.list.area.setAttribute("aria-describedby", "packets-help");
    this.heads = element("div", { class: "heads packets", "aria-hidden": true },
      ...HEADS.map(([kind, words]) => element("span", { class: kind }, words)));
    this.none = element("div", { class: "card empty", hidden: true });
    view.replaceChildren(element("div", { class: "columns" },
      element("div", { class: "tools" }, this.button, this.layer, this.device, this.app, text, this.words, this.fold, this.empty, this.flow,
        this.followButton("packets-follow"), ...saves, this.count),
      this.none, this.heads, this.list.area, this.detail, element("p", { class: "quiet help", id: "packets-help" }, HELP)));
    this.openNumber(Number(location.hash.split("/")[1]), text);
    this.described = null;
    this.again();
  }

  /** Chooses the packet of the address, without a filter that hides it. */
  openNumber(number, text) {
    if (!number) return;
    const packet = this.page.model.packets.items.find((each) => each.number === number);
    const isSelected = packet && this.selects(packet);
    this.wanted = number;
    if (isSelected) return;
    for (const each of [this.layer, this.device, this.app, text]) each.value = "";
    this.filters = { ...ALL };
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

  toggle(name) {
    this.filters[name] = this.filters[name] ? "" : "no";
    this.again();
  }

  row(packet) {
    const { layer, text, latency } = packet;
    const fold = this.folds.get(packet);
    const tone = TONES[layer];
    const what = fold ? `${fold.count} × ${text}` : brief(text);
    return [[clock(packet.time), ""], [packet.isReceived ? "←" : "→", ""], [layer.toUpperCase(), tone ? `tone ${tone}` : ""],
      [packet.peer ? this.page.nameOf(packet.peer) : "", ""], [what, FAILED.test(text) ? "what tone bad" : "what"],
      [latency === undefined ? "" : milliseconds(latency), "after"],
    ].flatMap(([words, kind]) => [element("span", { class: kind || null, title: words === what ? text : null }, words), " "]);
  }

  forgetFolds() {
    /** The rows that stand for several advertisements, and those of them that may get more. */
    this.folds = new Map();
    this.latest = new Map();
    this.folded = 0;
  }

  again() {
    this.list.clear();
    this.forgetFolds();
    this.next = this.page.model.packets.first;
    this.empty.setAttribute("aria-pressed", `${!this.filters.empty}`);
    this.flow.setAttribute("aria-pressed", `${!this.filters.flow}`);
    this.fold.setAttribute("aria-pressed", `${!this.isFolded}`);
    this.show();
  }

  /** The filters, as the server reads them. */
  get query() {
    return Object.entries(this.filters).filter(([, value]) => value)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  }

  selects(packet) {
    const { layer, device, app, text, empty, flow } = this.filters;
    if (packet.number === this.wanted) return true;
    if (empty && packet.layer === "air" && packet.text === EMPTY) return false;
    if (flow && packet.layer === "hci" && FLOW.test(packet.text)) return false;
    if ((layer && packet.layer !== layer) || (device && packet.peer !== device) || (app && packet.app !== app)) return false;
    return !text || packet.text.toLowerCase().includes(text);
  }

  fits(packet) { return this.selects(packet) && !this.isInFold(packet); }

  /**
   * Whether an advertisement is in the row of an earlier one. A row stands for those of one device with the same content, until
   * host and controller have said something else to each other.
   */
  isInFold(packet) {
    if (!this.isFolded || packet.number === this.wanted) return false;
    if (!ADVERTISING.test(packet.text)) {
      if (packet.layer === "hci" && !FLOW.test(packet.text)) this.latest.clear();
      return false;
    }
    const key = `${packet.layer} ${packet.peer} ${packet.text.replace(PASSING, "")}`;
    const first = this.latest.get(key);
    if (!first) {
      this.latest.set(key, packet);
      return false;
    }
    const fold = this.folds.get(first) ?? { count: 1 };
    fold.count += 1;
    this.folds.set(first, fold);
    this.folded += 1;
    return true;
  }

  learn(packet) {
    if (packet.peer) this.offer("device", packet.peer, this.page.nameOf(packet.peer));
    if (packet.app) this.offer("app", packet.app, packet.app);
    if (packet.layer === "air") {
      this.offer("layer", "air", "Air");
      this.empty.hidden = false;
    }
    const name = packet.text.split(/[:(,]/)[0].trim();
    if (this.known.size >= MOST_WORDS || this.known.has(name)) return;
    this.known.add(name);
    this.words.append(element("option", { value: name }));
  }

  show() {
    const { packets, refusals } = this.page.model;
    // Another system has other packets, and so has one of which some in the middle are gone.
    if (this.source !== packets) this.forgetFolds();
    this.take(packets, packets.items, packets.first);
    this.button.textContent = this.page.wantsPackets ? "Stop capturing" : "Capture packets";
    this.button.classList.toggle("main", !this.page.wantsPackets);
    const number = this.list.items.length + this.folded;
    this.count.textContent = refusals.get("packets") ?? count(number, "packet") + this.missing();
    this.showNone(packets.items.length);
    if (this.showList()) this.list.area.focus({ preventScroll: true });
    this.describe();
  }

  /** Says which packets are not there. */
  missing() {
    const { model } = this.page;
    const { lost, items } = model.packets;
    if (model.missingBefore !== null) return ", earlier ones are being loaded";
    const gone = model.forgottenPackets;
    return (lost ? `, ${lost} lost` : "") + (gone ? `, ${gone.toLocaleString("en")} older ones not kept` : "") + forgotten(items);
  }

  /** Says what to press while there is nothing. */
  showNone(packets) {
    const { world } = this.page.model;
    const [title, text] = packets ? ["No packet fits the filter", "Change or clear it."]
      : world ? ["No packets yet", "Press Run in the view World."]
        : this.page.wantsPackets ? ["No packets yet", "Capturing. Scan or connect in the view Devices, and the packets appear here."]
          : ["Packets are not captured", "Press Capture packets. From then on, all packets between this system and its controller are listed here."];
    const isEmpty = this.list.items.length === 0;
    this.none.hidden = !isEmpty;
    this.heads.hidden = this.list.area.hidden = isEmpty;
    if (isEmpty && this.none.textContent !== title + text) {
      this.none.replaceChildren(element("h2", {}, title), element("p", {}, text));
    }
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
    this.detail.hidden = false;
    this.detail.replaceChildren(new Dissection(packet).view, this.links(chosen));
    this.list.reveal();
  }

  /** The ways from a packet to what belongs to it. */
  links(chosen) {
    const event = this.page.model.eventOf(chosen);
    const line = this.page.model.world ? this.page.model.lineAt(chosen) : -1;
    const link = (href, id, words) => element("a", { href, id }, words);
    return element("div", { class: "verbs" },
      chosen.latency !== undefined ? link(`#packets/${chosen.request}`, "to-request", `Answers a packet after ${milliseconds(chosen.latency)}`) : null,
      chosen.answer ? link(`#packets/${chosen.answer}`, "to-answer", "Show its answer") : null,
      event ? link(`#events/${event.number}`, "to-event", event.isExact ? "Show its event" : "Show the event at its time") : null,
      line >= 0 ? link(`#world/${line + 1}`, "to-story", "Show it in the story") : null,
      chosen.peer ? link(`#device/${chosen.peer}`, "to-device", this.page.nameOf(chosen.peer)) : null,
      chosen.app ? link("#apps", "to-app", chosen.app) : null);
  }
}

/** A text whose attribute is known, without the octets of its value, which the packet's details have. */
function brief(text) { return text.replace(ATTRIBUTE, "$1: $2"); }

function milliseconds(seconds) {
  const value = seconds * 1000;
  return `${value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)} ms`;
}

/** Says from when on there are packets on the air, if older ones have made way for packets of the controller. */
export function forgotten(items) {
  const first = items.findIndex((packet) => packet.layer === "air");
  // The numbers have gaps where packets are gone.
  if (first < 0 || items[first].number - items[0].number <= first) return "";
  return `; those on the air before ${clock(items[first].time)} are no longer kept`;
}
