import { clock, count, element } from "./elements.js";
import { Dissection } from "./dissection.js";
import { isAdvertising, isError, isIdle } from "./filter.js";
import { FilterInput } from "./filterinput.js";
import { ListView, LongList } from "./list.js";

const TONES = { att: "accent", smp: "secure", air: "air" };
const HEADS = [["", "Time"], ["", ""], ["", "Layer"], ["", "Device"], ["", "What"], ["after", "After"]];
// How many numbers a message to the server has, which is an even number.
const NAMED = 400;
const MOST_OPTIONS = 500;
const MOST_WORDS = 200;
// After as many new packets, none of the others may be kept.
const MOST_NEW = 5000;
// A device that gets a link or loses it begins or ends to advertise.
const LINK = /^(LE (Enhanced )?Connection Complete|Disconnection Complete)/;
// What differs between advertisements with the same content.
const PASSING = /RSSI: -?\d+|-?\d+ dBm|Tx_Power: -?\d+/g;
const ATTRIBUTE = /^([^:]+): .*\(0x[0-9a-f]{4} (.*)\)$/;
const HELP = "→ to the controller, ← from it; on the air, → from this device, ← from others. Save writes what the filter selects.";

/** The packets between the host and its controller, in a world also those on the air, and one of them layer by layer. */
export class Packets extends ListView {
  constructor(page) {
    super(page, "packets");
    this.parts = ["packets", "packet", "world"];
    this.isFolded = true;
    this.showsIdle = false;
    this.offers = { device: new Set(), app: new Set(), words: new Set() };
    this.filter = new FilterInput({ offers: () => this.known(), onChange: () => this.again() });
    this.forgetFolds();
  }

  open(view) {
    this.button = element("button", {
      id: "packets-on", onclick: () => this.page.followPackets(!this.page.wantsPackets),
    });
    const toggle = (name, words, title) => element("button", { id: `packets-${name}`, title, onclick: () => {
      this[name] = !this[name];
      this.again();
    } }, words);
    this.toggles = {
      isFolded: toggle("isFolded", "Fold advertising", "Shows the advertisements of a device in one row"),
      showsIdle: toggle("showsIdle", "Idle packets", "Shows empty PDUs and Number Of Completed Packets too"),
    };
    const saves = ["btsnoop", "pcapng"].map((format) => element("button", {
      id: `packets-${format}`, class: "wide", title: "Saves the packets that the filter selects",
      onclick: () => this.save(format),
    }, `Save ${format}`));
    this.count = element("p", { class: "quiet small", id: "packets-count" });
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
      element("div", { class: "tools" }, this.button, this.filter.open(), ...Object.values(this.toggles),
        this.followButton("packets-follow"), ...saves),
      this.count, this.none, this.heads, this.list.area, this.detail, element("p", { class: "quiet help", id: "packets-help" }, HELP)));
    this.openNumber(Number(location.hash.split("/")[1]));
    this.described = null;
    this.again();
  }

  /** Chooses the packet of the address, without a filter that hides it. */
  openNumber(number) {
    if (!number) return;
    const packet = this.page.model.packets.items.find((each) => each.number === number);
    const isSelected = packet && this.selects(packet);
    this.wanted = number;
    if (!isSelected) this.filter.set("");
  }

  /** What the filter can be completed with. */
  known() {
    return { ...this.offers, device: new Set([...this.offers.device].map((peer) => this.page.nameOf(peer))) };
  }

  row(packet) {
    const { layer, text, latency } = packet;
    const fold = this.folds.get(packet);
    const tone = TONES[layer];
    const what = fold ? `${fold.count} × ${text}` : brief(text);
    return [[clock(packet.time), ""], packet.isReceived ? ["←", "quiet"] : ["→", "sent"], [layer.toUpperCase(), tone ? `tone ${tone}` : ""],
      [packet.peer ? this.page.nameOf(packet.peer) : "", ""], [what, isError(packet) ? "what tone bad" : "what"],
      [latency === undefined ? "" : milliseconds(latency), "after"],
    ].flatMap(([words, kind]) => [element("span", { class: kind || null, title: words === what ? text : null }, words), " "]);
  }

  forgetFolds() {
    /** The rows that stand for several advertisements, and those of them that may get more. */
    this.folds = new Map();
    this.latest = new Map();
  }

  /** Leaves out the packets that are not kept any more. A row may have stood for some of them. */
  forget() {
    const { items, first } = this.page.model.packets;
    this.seen = first;
    const kept = new Set(items);
    this.selected = this.selected.filter((packet) => kept.has(packet));
    this.forgetFolds();
    this.list.replace(this.selected.filter((packet) => !this.isInFold(packet)));
  }

  again() {
    // Begins anew.
    this.source = null;
    for (const [name, button] of Object.entries(this.toggles)) button.setAttribute("aria-pressed", `${this[name]}`);
    this.show();
  }

  /** Names the packets that the filter selects: by turns, how many are left out, from number 0 on, and how many follow. */
  save(format) {
    const runs = [];
    let next = 0;
    for (const packet of this.page.model.packets.items) {
      if (!this.selects(packet)) continue;
      if (packet.number === next && runs.length) runs[runs.length - 1] += 1;
      else runs.push(packet.number - next, 1);
      next = packet.number + 1;
    }
    for (let place = 0; place < runs.length; place += NAMED) {
      this.page.send({ verb: "select", packets: runs.slice(place, place + NAMED) });
    }
    this.page.send({ verb: "save", format });
  }

  /** Whether the filter selects a packet. Idle ones have to be asked for, by the button or by name. */
  selects(packet) {
    if (packet.number === this.wanted) return true;
    const { test, fields } = this.filter.filter;
    if (!this.showsIdle && !fields.has("empty") && !fields.has("flow") && isIdle(packet)) return false;
    return test(packet, (peer) => this.page.nameOf(peer));
  }

  fits(packet) {
    if (!this.selects(packet)) return false;
    this.selected.push(packet);
    return !this.isInFold(packet);
  }

  /**
   * Whether an advertisement is in the row of an earlier one. A row stands for those of one device and one kind, until a link
   * has begun or ended.
   */
  isInFold(packet) {
    if (!this.isFolded || packet.number === this.wanted) return false;
    if (!isAdvertising(packet)) {
      if (LINK.test(packet.text)) this.latest.clear();
      return false;
    }
    packet.fold ??= foldOf(packet);
    const first = this.latest.get(packet.fold);
    if (!first) {
      this.latest.set(packet.fold, packet);
      return false;
    }
    const fold = this.folds.get(first) ?? { count: 1 };
    fold.count += 1;
    this.folds.set(first, fold);
    return true;
  }

  learn({ peer, app, text }) {
    const add = (known, value, most) => { if (value && known.size < most) known.add(value); };
    add(this.offers.device, peer, MOST_OPTIONS);
    add(this.offers.app, app, MOST_OPTIONS);
    add(this.offers.words, text.split(/[:(,]/)[0].trim(), MOST_WORDS);
  }

  show() {
    const { packets, refusals } = this.page.model;
    const isNew = this.source !== packets || packets.first + packets.items.length - this.next > MOST_NEW;
    if (isNew) {
      [this.source, this.selected, this.seen] = [null, [], packets.first];
      this.forgetFolds();
    } else if (this.seen !== packets.first) {
      this.forget();
    }
    this.take(packets, packets.items, packets.first);
    this.filter.refresh();
    this.button.textContent = this.page.wantsPackets ? "Stop capturing" : "Capture packets";
    this.button.classList.toggle("main", !this.page.wantsPackets);
    this.count.textContent = refusals.get("packets") ?? count(this.selected.length, "packet") + this.missing();
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
      this.page.model.world ? link(`#why/packet/${chosen.number}`, "to-why", "Why?") : null,
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

/** What advertisements in one row have in common: the device and the kind, or all of the content if there is no device. */
function foldOf({ layer, peer, text }) {
  return `${layer} ${peer ? `${peer} ${text.split(":", 1)[0]}` : text.replace(PASSING, "")}`;
}

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
