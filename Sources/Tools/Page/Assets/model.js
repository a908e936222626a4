import { countFrom } from "./elements.js";

// What the page knows: the last snapshots, and what came since it was opened. All lists are bounded.

const MOST_EVENTS = 20000;
const MOST_PHASES = 500;
const MOST_ADVICE = 500;
const MOST_SIGNALS = 120;
const MOST_VALUES = 300;
const MOST_LINES = 2000;
const MOST_PACKETS = 20000;
const MOST_FOUND = 2048;
const MOST_APPS = 200;
// How far apart an event and a packet may be that belong together only by their time, in seconds.
const NEAR = 5;

/** Adds to the list under a key, and drops the oldest entry of a list that is too long. */
function push(lists, key, value, most) {
  const list = lists.get(key) ?? [];
  list.push(value);
  if (list.length > most) list.shift();
  lists.set(key, list);
}

/**
 * The packets: in the order of their numbers, with the number of those that were removed, most of them at the beginning. `base` is the number before
 * the first one that could be there, null before the first has come. `isWhole` tells that no older ones are to be had.
 */
function noPackets() { return { items: [], first: 0, lost: 0, base: null, isWhole: false }; }

/** Whether a packet caused an event, or was caused by it. */
function tells(packet, event) {
  return packet.cause === event ||
    (packet.firstEvent > 0 && packet.firstEvent <= event && event < packet.firstEvent + packet.events);
}

/** A packet, by its row. */
function packetOf([number, time, isReceived, layer, text, peer, app, cause, firstEvent, events, request, rssi]) {
  return { number, time: time / 1e6, isReceived, layer, text, peer, app, cause, firstEvent, events, request, rssi };
}

/** The packet with a number, in a list in the order of the numbers. */
export function packetNumbered(items, number) {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle].number < number) low = middle + 1; else high = middle;
  }
  return items[low]?.number === number ? items[low] : null;
}

/** Notes which packet each of these answers, and after which time. */
function matchAnswers(all, answers) {
  for (const answer of answers) {
    const request = answer.request && answer.latency === undefined ? packetNumbered(all, answer.request) : null;
    if (!request) continue;
    answer.latency = answer.time - request.time;
    request.answer = answer.number;
  }
}

export class Model {
  constructor() {
    this.status = null;
    this.devices = [];
    this.deviceTable = new Map();
    this.deviceVersion = 0;
    this.packets = noPackets();
    this.packet = null;
    this.energy = null;
    this.installed = [];
    this.accessories = [];
    this.events = [];
    this.firstEvent = 0;
    this.phases = new Map();
    this.launches = new Map();
    this.seenApps = new Map();
    this.advice = new Map();
    this.prompts = new Map();
    this.refusals = new Map();
    this.signals = new Map();
    this.lost = 0;
    this.leftOut = 0;
    this.found = new Map();
    this.tables = new Map();
    this.values = new Map();
    /** The devices whose distance is being measured. */
    this.measuring = new Set();
    this.isScanning = false;
    this.begin = Date.now() / 1000;
    this.world = null;
    this.story = [];
    this.firstLine = 0;
    /** The number of the first line that has changed since it was shown. */
    this.changedLine = 0;
    this.worldTest = null;
    /** Whether the world is on its way to another instant. */
    this.isLeaping = false;
    /** The lives of the world's app, links and scans, and the alerts. */
    this.lives = [];
    /** The last answer to the question why something happened. */
    this.why = null;
  }

  /** Takes in a message of the server, and returns the names of the parts that changed. */
  take({ type, value }) {
    switch (type) {
      case "status": this.#takeStatus(value); return ["status", "devices", "apps"];
      case "devices": this.#takeDevices(value); return ["devices"];
      case "devicesChanged": this.#changeDevices(value); return ["devices"];
      case "packets": this.#takePackets(value); return ["packets"];
      case "earlier": this.#takeEarlier(value); return ["packets"];
      case "packet": this.packet = value; return ["packet"];
      case "energy": this.energy = value; return ["energy"];
      case "energyChanged": this.#changeEnergy(value); return ["energy"];
      case "apps": [this.installed, this.accessories] = [value.installed, value.accessories ?? []]; return ["apps"];
      case "event": this.#takeEvent(value); return ["events", "apps"];
      case "events": for (const each of value) this.#takeEvent(each); return ["events", "apps"];
      case "advice": this.#takeAdvice(value); return ["advice"];
      case "prompt": this.#takePrompt(value); return ["prompts"];
      case "promptClosed": this.prompts.delete(value); return ["prompts"];
      case "lost": this.lost += value; return ["events"];
      case "scanning": this.isScanning = value; return ["devices"];
      case "found": for (const each of value) this.#takeFound(each); return ["devices"];
      case "table": this.tables.set(value.peer, value); return ["device", "devices"];
      case "tableClosed": this.tables.delete(value); return ["device", "devices"];
      case "value": this.#takeValue(value); return ["device"];
      case "measuring": this.measuring[value.isOn ? "add" : "delete"](value.peer); return ["device"];
      case "world": this.#takeWorld(value); return ["world"];
      case "why": this.why = value; return ["why"];
      case "lives": this.lives = value; return ["world"];
      case "leap": this.isLeaping = value; return ["world"];
      case "story": this.#takeStory(value); return ["story"];
      case "worldTest": this.worldTest = value; return ["worldTest"];
      case "again": return this.#begin();
      default:
        if (!type.startsWith("refused-")) return [];
        this.refusals.set(type.slice("refused-".length), value[0]);
        return ["events", "advice", "status", "packets"];
    }
  }

  /** Takes in what has changed of the charges. A page that missed a change gets them all later. */
  #changeEnergy({ sums, changed, gone }) {
    const apps = new Map((this.energy?.apps ?? []).map((app) => [app.app, app]));
    for (const app of changed) apps.set(app.app, app);
    for (const name of gone) apps.delete(name);
    this.energy = { ...sums, apps: [...apps.values()] };
  }

  /** Forgets a system that is gone, but not its world. */
  #begin() {
    const { world, story, firstLine, changedLine, generation, isLeaping, lives } = this;
    Object.assign(this, new Model(), { world: world && { ...world, milliseconds: isLeaping ? world.milliseconds : 0 }, story, firstLine, changedLine, generation, isLeaping, lives });
    return ["status", "devices", "device", "apps", "events", "packets", "advice", "prompts", "energy"];
  }

  /** A world that begins again has another story. */
  #takeWorld(world) {
    if (world.generation !== this.generation) this.#beginStory(world.generation);
    this.world = world;
    countFrom(world.start);
  }

  /** The time now and the one from which on this page knows everything, as events have them. */
  get now() { return this.world ? this.world.start + this.world.milliseconds / 1000 : Date.now() / 1000; }

  get since() { return this.world?.start ?? this.begin; }

  /** Notes the apps and their phases, which not all events tell. */
  #takeStatus(status) {
    this.status = status;
    const running = new Set();
    for (const { name, owner, displayName, phase } of status.apps) {
      const key = `${name}/${owner}`;
      running.add(key);
      if (this.seenApps.size < MOST_APPS) this.seenApps.set(key, { name, owner, displayName });
      this.#notePhase(key, phase, this.now);
    }
    for (const key of this.seenApps.keys()) if (!running.has(key)) this.#notePhase(key, "notRunning", this.now);
  }

  #notePhase(key, phase, time) {
    if (this.phases.get(key)?.at(-1)?.phase !== phase) push(this.phases, key, { time, phase }, MOST_PHASES);
  }

  #beginStory(generation) {
    [this.generation, this.story, this.firstLine, this.changedLine] = [generation, [], 0, 0];
  }

  /** Adds lines to the story of the world, and says where some are missing. Lines whose events repeat come again. */
  #takeStory({ generation, first, lines }) {
    if (generation !== this.generation) this.#beginStory(generation);
    const missing = first - this.firstLine - this.story.length;
    if (missing > 0) [this.story, this.firstLine] = [[{ text: `… ${missing} lines left out` }], first - 1];
    this.story.splice(Math.max(0, first - this.firstLine));
    this.changedLine = Math.min(this.changedLine, first);
    const forgotten = Math.max(0, this.firstLine - first);
    this.story.push(...lines.slice(forgotten).map(([text, time, event]) => ({ text, time, event })));
    const surplus = this.story.length - MOST_LINES;
    if (surplus > 0) {
      this.story.splice(0, surplus);
      this.firstLine += surplus;
    }
  }

  #takeDevices({ version, devices }) {
    this.deviceVersion = version;
    this.deviceTable = new Map(devices.map((device) => [device.identifier, device]));
    this.devices = devices;
    for (const device of devices) if (device.rssi !== undefined) this.#note(device);
  }

  /** Takes in what has changed since the last version. A page that missed one gets the whole list later. */
  #changeDevices({ version, changed, gone }) {
    this.deviceVersion = version;
    for (const device of changed) {
      this.deviceTable.set(device.identifier, device);
      if (device.rssi !== undefined) this.#note(device);
    }
    for (const each of gone) this.deviceTable.delete(each);
    this.devices = [...this.deviceTable.values()];
  }

  #takeFound(found) {
    // The one that was silent the longest goes first.
    this.found.delete(found.identifier);
    this.found.set(found.identifier, found);
    if (this.found.size > MOST_FOUND) this.found.delete(this.found.keys().next().value);
    if (found.rssi !== undefined) this.#note(found);
  }

  #takePackets({ lost, rows }) {
    const { packets } = this;
    packets.lost += lost;
    const last = packets.items.at(-1)?.number ?? -1;
    // A page that follows again gets some rows again.
    const items = rows.map(packetOf).filter(({ number }) => number > last);
    // A world has all packets since its first instant.
    if (items.length) packets.base ??= this.world ? 0 : items[0].number - 1;
    packets.items.push(...items);
    matchAnswers(packets.items, items);
    if (packets.items.length > MOST_PACKETS + 2000) this.#forgetPackets();
  }

  /** Adds packets before the first one. */
  #takeEarlier({ rows }) {
    const first = this.packets.items[0]?.number;
    // The answer to a question about a world that has been restarted since.
    if (first === undefined) return;
    const items = rows.map(packetOf).filter(({ number }) => number < first);
    if (!items.length) {
      this.packets.isWhole = true;
      return;
    }
    // Another object, because the places of all others are new.
    this.packets = { ...this.packets, items: [...items, ...this.packets.items], first: 0 };
    matchAnswers(this.packets.items, this.packets.items);
    if (this.packets.items.length >= MOST_PACKETS) this.packets.isWhole = true;
  }

  /** The number of the packet before which older ones are to be asked for; null if none are missing. */
  get missingBefore() {
    const { items, isWhole, base } = this.packets;
    return this.world && !isWhole && items.length && items[0].number > base + 1 ? items[0].number : null;
  }

  /** How many packets there were that are not kept. */
  get forgottenPackets() {
    const { items, lost, base } = this.packets;
    return items.length ? Math.max(0, items.at(-1).number - base - items.length - lost) : 0;
  }

  /** Forgets the oldest packets. A radio has many more than a controller, so those on the air make way first, down to the half. */
  #forgetPackets() {
    const { packets } = this;
    const { length } = packets.items;
    const frames = packets.items.filter((packet) => packet.layer === "air").length;
    let left = Math.min(length - MOST_PACKETS, frames - MOST_PACKETS / 2);
    packets.items = packets.items.filter((packet) => packet.layer !== "air" || (left -= 1) < 0).slice(-MOST_PACKETS);
    packets.first += length - packets.items.length;
  }

  /** The packet that a line of the story tells, or else the one of the controller that is next to it in time. */
  packetAt({ time, event }) {
    if (time === undefined) return null;
    const exact = event ? this.packets.items.find((packet) => tells(packet, event)) : null;
    const date = (this.world?.start ?? 0) + time / 1e6;
    const isController = (packet) => packet.layer !== "air";
    return exact ?? this.#next(date, isController) ?? this.#next(date, () => true);
  }

  #next(date, fits) {
    let found = null;
    for (const packet of this.packets.items) {
      const distance = Math.abs(packet.time - date);
      if (distance <= NEAR && fits(packet) && (!found || distance < Math.abs(found.time - date) - 1e-6)) found = packet;
    }
    return found;
  }

  /** The number of the line of the story that tells a packet, or else of the last one before it; -1 without a story. */
  lineAt(packet) {
    const { story } = this;
    const exact = story.findIndex(({ event }) => event && tells(packet, event));
    const time = (packet.time - (this.world?.start ?? 0)) * 1e6 + 1;
    const place = exact >= 0 ? exact : story.findLastIndex((line) => line.time <= time);
    return place < 0 ? -1 : this.firstLine + place;
  }

  /** The event that caused a packet or that it caused; else the last one of its device before it. */
  eventOf(packet) {
    const number = packet.cause || packet.firstEvent;
    if (number && this.events.some((event) => event.number === number)) return { number, isExact: true };
    const near = this.events.findLast((event) => event.date <= packet.time + 0.001 && event.date >= packet.time - NEAR &&
      (!packet.peer || event.peer === packet.peer));
    return near ? { number: near.number, isExact: false } : null;
  }

  /** The packet that an event caused or that caused it; else the first one of its device after it. */
  packetOf(event) {
    const { items } = this.packets;
    const exact = items.find((packet) => tells(packet, event.number));
    if (exact) return { number: exact.number, isExact: true };
    const near = items.find((packet) => packet.time >= event.date - 0.001 && packet.time <= event.date + NEAR &&
      (!event.peer || packet.peer === event.peer));
    return near ? { number: near.number, isExact: false } : null;
  }

  /** Notes the signal strength of a device. */
  #note({ identifier, rssi }) {
    const signals = this.signals.get(identifier) ?? [];
    signals.push(rssi);
    if (signals.length > MOST_SIGNALS) signals.shift();
    this.signals.delete(identifier);
    this.signals.set(identifier, signals);
    if (this.signals.size > MOST_FOUND) this.signals.delete(this.signals.keys().next().value);
  }

  #takeValue(value) {
    push(this.values, `${value.peer}/${value.key}`, { ...value, time: Date.now() / 1000 }, MOST_VALUES);
  }

  #takeEvent(event) {
    event.date ??= this.now;
    this.leftOut += event.leftOut ?? 0;
    this.events.push(event);
    if (this.events.length > MOST_EVENTS + 1000) {
      const surplus = this.events.length - MOST_EVENTS;
      this.events.splice(0, surplus);
      this.firstEvent += surplus;
    }
    const key = `${event.app}/${event.owner}`;
    if (event.isLaunch) this.launches.set(key, [...(this.launches.get(key) ?? []), event.date].slice(-100));
    if (event.phase) this.#notePhase(key, event.phase, event.date);
  }

  #takeAdvice(advice) {
    const key = JSON.stringify([advice.rule, advice.app, advice.owner, advice.found]);
    if (this.advice.size >= MOST_ADVICE && !this.advice.has(key)) return;
    this.advice.set(key, advice);
  }

  #takePrompt(prompt) {
    // A notice has no number of its own, since it needs no answer.
    this.prompts.set(prompt.kind === "notice" ? `notice-${Math.random()}` : prompt.number, prompt);
  }
}
