// What the page knows: the last snapshots, and what came since it was opened. All lists are bounded.

const MOST_EVENTS = 20000;
const MOST_PHASES = 500;
const MOST_ADVICE = 500;
const MOST_SIGNALS = 120;
const MOST_VALUES = 300;
const MOST_LINES = 300;

export class Model {
  constructor() {
    this.status = null;
    this.devices = [];
    this.installed = [];
    this.events = [];
    this.firstEvent = 0;
    this.phases = new Map();
    this.advice = new Map();
    this.prompts = new Map();
    this.refusals = new Map();
    this.signals = new Map();
    this.lost = 0;
    this.found = new Map();
    this.tables = new Map();
    this.values = new Map();
    this.isScanning = false;
    this.begin = Date.now() / 1000;
    this.world = null;
    this.story = [];
    this.firstLine = 0;
    this.worldTest = null;
  }

  /** Takes in a message of the server, and returns the names of the parts that changed. */
  take({ type, value }) {
    switch (type) {
      case "status": this.status = value; return ["status", "devices", "apps"];
      case "devices": this.#takeDevices(value); return ["devices"];
      case "apps": this.installed = value.installed; return ["apps"];
      case "event": this.#takeEvent(value); return ["events", "apps"];
      case "advice": this.#takeAdvice(value); return ["advice"];
      case "prompt": this.#takePrompt(value); return ["prompts"];
      case "promptClosed": this.prompts.delete(value); return ["prompts"];
      case "lost": this.lost += value; return ["events"];
      case "scanning": this.isScanning = value; return ["devices"];
      case "found": for (const each of value) this.#takeFound(each); return ["devices"];
      case "table": this.tables.set(value.peer, value); return ["device", "devices"];
      case "tableClosed": this.tables.delete(value); return ["device", "devices"];
      case "value": this.#takeValue(value); return ["device"];
      case "world": this.#takeWorld(value); return ["world"];
      case "story": this.#takeStory(value); return ["story"];
      case "worldTest": this.worldTest = value; return ["worldTest"];
      case "again": return this.#begin();
      default:
        if (!type.startsWith("refused-")) return [];
        this.refusals.set(type.slice("refused-".length), value[0]);
        return ["events", "advice", "status"];
    }
  }

  /** Forgets a system that is gone, but not its world. */
  #begin() {
    const { world, story, firstLine, generation } = this;
    Object.assign(this, new Model(), { world, story, firstLine, generation });
    return ["status", "devices", "device", "apps", "events", "advice", "prompts"];
  }

  /** A world that begins again has another story. */
  #takeWorld(world) {
    if (world.generation !== this.generation) this.#beginStory(world.generation);
    this.world = world;
  }

  #beginStory(generation) {
    [this.generation, this.story, this.firstLine] = [generation, [], 0];
  }

  /** Adds lines to the story of the world, and says where some are missing. */
  #takeStory({ generation, first, lines }) {
    if (generation !== this.generation) this.#beginStory(generation);
    const missing = first - this.firstLine - this.story.length;
    if (missing > 0) [this.story, this.firstLine] = [[`… ${missing} lines left out`], first - 1];
    this.story.push(...lines.slice(Math.max(0, -missing)));
    const surplus = this.story.length - MOST_LINES;
    if (surplus > 0) {
      this.story.splice(0, surplus);
      this.firstLine += surplus;
    }
  }

  #takeDevices(devices) {
    this.devices = devices;
    const known = new Set(devices.map((device) => device.identifier));
    for (const device of devices) if (device.rssi !== undefined) this.#note(device);
    for (const map of [this.signals, this.found]) {
      for (const each of map.keys()) if (!known.has(each)) map.delete(each);
    }
  }

  #takeFound(found) {
    this.found.set(found.identifier, found);
    if (found.rssi !== undefined) this.#note(found);
  }

  /** Notes the signal strength of a device. */
  #note({ identifier, rssi }) {
    const signals = this.signals.get(identifier) ?? [];
    signals.push(rssi);
    if (signals.length > MOST_SIGNALS) signals.shift();
    this.signals.set(identifier, signals);
  }

  #takeValue(value) {
    const key = `${value.peer}/${value.key}`;
    const values = this.values.get(key) ?? [];
    values.push({ ...value, time: Date.now() / 1000 });
    if (values.length > MOST_VALUES) values.shift();
    this.values.set(key, values);
  }

  #takeEvent(event) {
    event.date ??= Date.now() / 1000;
    this.events.push(event);
    if (this.events.length > MOST_EVENTS + 1000) {
      const surplus = this.events.length - MOST_EVENTS;
      this.events.splice(0, surplus);
      this.firstEvent += surplus;
    }
    if (!event.phase) return;
    const key = `${event.app}/${event.owner}`;
    const phases = this.phases.get(key) ?? [];
    phases.push({ time: event.date, phase: event.phase });
    if (phases.length > MOST_PHASES) phases.shift();
    this.phases.set(key, phases);
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
