import { allow, element, replace, timer } from "./elements.js";
import { current } from "./energy.js";
import { FaultForm, faultWords } from "./faults.js";
import { Timeline } from "./timeline.js";
import { AppVerbs, verbsHelp } from "./verbs.js";
import { WorldMap } from "./worldmap.js";

const SPEEDS = [0.1, 0.5, 1, 2, 5, 10, 50, 100];
const NOISES = [-90, -80, -70, -60];
const ADVERTISING = [37, 38, 39];
const WALL_METRES = 60;
const WALL_LOSS = 30;
const ASKED_MILLISECONDS = 60000;
const JAMMED = "jammed-channel";
const FAR = "out-of-range";
const BATTERY = "low-battery";
// Steps in lines, or in pages.
const KEYS = { ArrowDown: 1, ArrowUp: -1, PageDown: 1, PageUp: -1, Home: -Infinity, End: Infinity };
// The beginning of what the app tells its user, in a line of the story, and the words of what goes wrong.
const SHOWN = " the app shows: ";
const WRONG = /link ended|did disconnect|disconnected|crashed|failed|refused|timed out|not permitted|error/i;
const TIME = /^[0-9:.]+ /;
const PHASES = { foreground: "good", background: "accent", suspended: "warn", notRunning: "bad" };

/** Whether a wall crosses the line between the two devices. */
function isBehindWall({ devices: [one, other], walls }) {
  const side = (from, to, at) => Math.sign((to.x - from.x) * (at.y - from.y) - (to.y - from.y) * (at.x - from.x));
  return walls.some((wall) => {
    const [start, end] = [wall, { x: wall.x2, y: wall.y2 }];
    return side(start, end, one) !== side(start, end, other) && side(one, other, start) !== side(one, other, end);
  });
}

/** A simulated world: its map, its time, what can be done to it, and its story. */
export class World {
  constructor(page) {
    this.page = page;
    this.parts = ["world", "story", "worldTest"];
    this.map = new WorldMap((device, x, y) => this.act("move", { device, x, y }));
    this.timeline = new Timeline((milliseconds) => this.act("goto", { amount: milliseconds / 1000 }),
      () => this.page.model.story.filter(({ time }) => time !== undefined).map(({ time }) => Math.ceil(time / 1000)));
  }

  get world() { return this.page.model.world; }

  act(act, more = {}) { this.page.send({ verb: "world", act, ...more }); }

  /** The distance between the two devices. */
  get metres() {
    const [one, other] = this.world.devices;
    return Math.hypot(other.x - one.x, other.y - one.y);
  }

  button(id, words, press, properties = {}) {
    return element("button", { id, type: "button", onclick: press, ...properties }, words);
  }

  open(view) {
    this.follows = true;
    this.shown = null;
    this.told = { generation: 0, first: 0, next: 0 };
    this.clock = element("output", { id: "world-time", "aria-label": "Time of the world" });
    this.running = this.button("world-run", "", () => this.act(this.world?.isRunning ? "pause" : "run"));
    this.speed = element("select", { id: "world-speed", "aria-label": "Speed",
      onchange: (event) => this.act("speed", { amount: Number(event.target.value) }) },
      ...SPEEDS.map((each) => element("option", { value: each }, `${each}×`)));
    this.seed = element("input", { id: "world-seed", inputmode: "numeric", size: 8, "aria-label": "Seed" });
    this.story = element("div", { class: "story code", role: "listbox", tabindex: 0, "aria-label": "Story",
      "aria-describedby": "story-help", onclick: (event) => this.click(event), onkeydown: (event) => this.pressKey(event),
      onscroll: () => { this.follows = this.story.scrollHeight - this.story.scrollTop - this.story.clientHeight < 40; } });
    /** The number of the chosen line, or -1. */
    this.line = -1;
    this.why = this.button("story-why", "Why?", () => { location.hash = `#why/event/${this.chosenEvent}`; });
    this.test = element("section", { class: "test", "aria-label": "Saved test", hidden: true });
    view.replaceChildren(element("div", { class: "world" },
      element("div", { class: "tools run" }, this.running, this.button("world-step", "Step", () => this.act("step"),
        { title: "Go on until the next event of the story" }), this.speed, this.clock),
      element("div", { class: "tools again" },
        element("form", { class: "verbs", onsubmit: (event) => { event.preventDefault(); this.restart(); } },
          element("label", { class: "small" }, "Seed ", this.seed), element("button", { id: "world-restart" }, "Restart")),
        this.button("world-save", "Save as a test", () => this.act("test"),
          { class: "main", title: "Writes a Swift test that repeats what you did, at the same times" })),
      this.map.open(), this.timeline.open(),
      element("section", { class: "told", "aria-label": "What happens" },
        element("h2", {}, "Story", element("span", { class: "quiet", id: "story-help" },
          "A click on a line, or Enter, shows the packets at that time."), this.why), this.story),
      this.panels()), this.test);
    this.show();
    const number = Number(location.hash.split("/")[1]);
    if (number) this.choose(number - 1, true);
  }

  // MARK: The lines of the story

  /** The place of the chosen line, or -1. */
  get chosen() { return this.line < 0 ? -1 : this.line - this.page.model.firstLine; }

  /** The event of the phone that the chosen line tells; 0 if there is none. */
  get chosenEvent() { return this.page.model.story[this.chosen]?.event ?? 0; }

  /** Chooses a line, by its number since the beginning of the story. */
  choose(number, hasFocus) {
    this.line = number;
    this.markLine();
    const row = this.story.children[this.chosen];
    if (!row) return;
    this.follows = false;
    this.reveal(row, hasFocus);
    if (hasFocus) this.story.focus({ preventScroll: true });
  }

  /** Scrolls the story to a line; the page only if the line is out of sight. */
  reveal(row, isCentred) {
    const { story } = this;
    const [top, height] = [row.offsetTop - story.offsetTop - story.clientTop, row.offsetHeight];
    const [least, most] = [top + height - story.clientHeight, top];
    if (isCentred) story.scrollTop = (least + most) / 2;
    else story.scrollTop = Math.min(most, Math.max(least, story.scrollTop));
    const [shown, window] = [row.getBoundingClientRect(), this.page.view.getBoundingClientRect()];
    if (shown.top < window.top || shown.bottom > window.bottom) story.scrollIntoView({ block: "nearest" });
  }

  markLine() {
    allow(this.why, Boolean(this.chosenEvent), this.chosenEvent ? "Shows what caused this, up to the call in the app"
      : "Choose a line about the phone first.");
    for (const row of this.story.querySelectorAll("[aria-selected=true]")) row.setAttribute("aria-selected", "false");
    const row = this.story.children[this.chosen];
    if (!row) return this.story.removeAttribute("aria-activedescendant");
    row.setAttribute("aria-selected", "true");
    this.story.setAttribute("aria-activedescendant", row.id);
  }

  click(event) {
    const row = event.target.closest("[role=option]");
    if (!row || String(getSelection())) return;
    this.choose(this.page.model.firstLine + [...this.story.children].indexOf(row), false);
    this.openLine();
  }

  pressKey(event) {
    if (event.key === "w" && this.chosenEvent) return this.why.click();
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      return this.openLine();
    }
    const { story, firstLine } = this.page.model;
    if (!(event.key in KEYS) || !story.length) return;
    event.preventDefault();
    const from = this.chosen < 0 ? story.length : this.chosen;
    const step = KEYS[event.key] * (event.key.startsWith("Page") ? this.linesInSight : 1);
    this.choose(firstLine + Math.min(story.length - 1, Math.max(0, from + step)), false);
  }

  /** The number of lines in a page of the story. */
  get linesInSight() {
    const row = this.story.lastElementChild;
    return Math.max(1, Math.floor(this.story.clientHeight / (row?.offsetHeight || 1)) - 1);
  }

  /** Shows the packets at the time of the chosen line. */
  openLine() {
    const { model } = this.page;
    const line = model.story[this.chosen];
    if (line?.time === undefined) return;
    const packet = model.packetAt(line);
    this.page.tell(packet ? "" : model.packets.isWhole ? `The packets of ${timer(line.time / 1000)} are not kept: only the last ones are.`
      : "The packets of that time are still being loaded: try again in a moment.");
    if (!packet) return;
    // Back leads to the line.
    history.replaceState(null, "", `#world/${this.line + 1}`);
    location.hash = `#packets/${packet.number}`;
  }

  /** Begins again. What was done by hand in more than a minute is lost only after a question. */
  restart() {
    const { acts, milliseconds } = this.world;
    if (acts && milliseconds > ASKED_MILLISECONDS &&
      !confirm(`Restart, and discard ${timer(milliseconds)} of this world? To keep what you did, press "Save as a test" first.`)) return;
    const seed = this.seed.value.trim();
    this.act("restart", seed ? { text: seed } : {});
  }

  panels() {
    this.link = element("p", { id: "world-link-state", role: "status" });
    this.power = element("p", { id: "world-power", class: "quiet small" });
    this.states = element("span", { class: "verbs" });
    this.places = element("div");
    this.dropped = this.button("world-drop", "Drop the link once", () => this.act("drop"));
    this.far = this.button("world-far", "", () => this.toggle(FAR));
    this.battery = this.field("world-battery", "Battery, percent", 5, { min: 0, max: 100 });
    this.fault = new FaultForm((text) => this.act("begin", { text }));
    this.faults = element("ul", { class: "faults warn" });
    this.app = element("p", { id: "world-app" });
    this.phase = element("span", { class: "tag" });
    this.verbs = new AppVerbs({ isInWorld: true, id: (verb) => `world-app-${verb.words}`,
      press: (verb) => this.act("app", { text: verb.act }) });
    this.noise = element("select", { id: "world-noise", "aria-label": "Noise",
      onchange: (event) => this.act("noise", event.target.value ? { amount: Number(event.target.value) } : {}) },
      element("option", { value: "" }, "no noise"),
      ...NOISES.map((each) => element("option", { value: each }, `${each} dBm of noise`)));
    this.jams = Array.from({ length: 40 }, (_, channel) => this.button(`world-jam-${channel}`, channel,
      () => this.toggle(this.jam(channel)), { "aria-label": `Jam channel ${channel}` }));
    this.wall = this.button("world-wall", "Wall between them", () => this.addWall());
    this.walls = element("ul", { class: "faults warn" });
    this.jammed = element("p", { class: "small warn" });
    return element("div", { class: "side" },
      element("section", { class: "card", "aria-label": "Sensor" }, element("h2", {}, "Sensor ", this.states), this.link,
        element("div", { class: "verbs" }, this.dropped, this.far),
        element("form", { class: "verbs", onsubmit: (event) => { event.preventDefault(); this.drain(); } },
          element("button", { id: "world-drain" }, "Drain the battery"), element("label", {}, "to ", this.battery, " %")),
        this.fault.row, this.faults, this.power,
        element("details", {}, element("summary", {}, "Positions in metres"), this.places)),
      element("section", { class: "card", "aria-label": "App" }, element("h2", {}, "App on the phone ", this.phase), this.app,
        this.verbs.row, verbsHelp(true)),
      element("section", { class: "card", "aria-label": "Radio" }, element("h2", {}, "Radio"),
        element("div", { class: "verbs" }, this.noise, this.wall,
          this.button("world-jam-advertising", "Jam advertising", () => this.jamAdvertising())),
        this.walls, this.jammed,
        element("details", {}, element("summary", {}, "Channels"), element("div", { class: "channels" }, ...this.jams))));
  }

  field(id, label, value, more = {}) {
    const made = element("input", { id, type: "number", "aria-label": label, ...more });
    made.value = value;
    return made;
  }

  // MARK: Acts

  jam(channel) { return channel === 37 ? JAMMED : `${JAMMED}=${channel}`; }

  toggle(fault) { this.act(this.world?.faults.includes(fault) ? "end" : "begin", { text: fault }); }

  drain() { this.act("begin", { text: `${BATTERY}=${this.battery.value}` }); }

  jamAdvertising() {
    const { faults } = this.world;
    const isJammed = ADVERTISING.every((channel) => faults.includes(this.jam(channel)));
    for (const channel of ADVERTISING) {
      if (faults.includes(this.jam(channel)) === isJammed) this.toggle(this.jam(channel));
    }
  }

  /** Adds a wall across the line between the two devices, in its middle. */
  addWall() {
    const [one, other] = this.world.devices;
    const [x, y] = [(one.x + other.x) / 2, (one.y + other.y) / 2];
    const length = this.metres;
    const [across, along] = [(other.x - one.x) / length * WALL_METRES / 2, (other.y - one.y) / length * WALL_METRES / 2];
    this.act("wall", { x: x - along, y: y + across, x2: x + along, y2: y - across, amount: WALL_LOSS });
  }

  // MARK: What it shows

  show() {
    const { world } = this;
    if (!world) return this.map.show(null);
    this.map.show(this.pictured(world));
    this.clock.textContent = timer(world.milliseconds);
    this.timeline.show(world, this.page.model.isLeaping, this.page.model.lives);
    this.running.textContent = world.isRunning ? "Pause" : "Run";
    this.running.classList.toggle("main", !world.isRunning);
    if (document.activeElement !== this.speed) this.speed.value = world.speed;
    this.seed.placeholder = world.seed;
    this.showSensor(world);
    this.showApp(world);
    this.showRadio(world);
    this.showStory();
    this.showTest();
  }

  /** The world with the states of its devices and of the link, in words for the map. */
  pictured(world) {
    const { app } = world;
    const [phone, sensor] = world.devices;
    const phase = app.phase === "notRunning" ? "not running" : app.phase;
    const own = this.sensorState(world);
    const tone = app.phase === "foreground" && !world.isConnected ? "quiet" : PHASES[app.phase];
    return { ...world, linkWords: `${world.rssi} dBm, ${this.metres.toFixed(1)} m${this.isEncrypted(world) ? ", encrypted" : ""}`,
      devices: [
        { ...phone, state: world.isConnected ? "connected" : "", tone,
          words: [`${app.name} ${phase}`, app.value || app.shows].filter(Boolean).join(": ") },
        { ...sensor, state: own.name, mark: own.name === "lost" ? "bad" : "", tone: own.tone, words: own.words, isAdvertising: world.isAdvertising },
      ] };
  }

  isEncrypted({ encryption }) { return Boolean(encryption) && encryption !== "none"; }

  /** The state of the sensor: its name, its colour, and the words for it. */
  sensorState(world) {
    const more = world.isAdvertising ? ", advertising" : "";
    if (world.isDropping) return { name: "", tone: "warn", words: "dropping the link" };
    if (world.isConnected && !world.isInRange) return { name: "lost", tone: "bad", words: "out of range, the link is about to end" };
    if (world.isConnected) return { name: "connected", tone: "good", words: "connected" };
    if (!world.isInRange || world.faults.includes(FAR)) return { name: "lost", tone: "bad", words: `out of range${more}` };
    return { name: "", tone: world.isAdvertising ? "air" : "quiet", words: `in range${more}` };
  }

  showSensor(world) {
    const state = world.isConnected ? "connected" : "not connected";
    this.link.textContent = world.faults.includes(FAR) ? `Out of range of everything, ${state}.`
      : `${this.metres.toFixed(1)} m from the phone, ${isBehindWall(world) ? "behind a wall, " : ""}${world.isInRange ? `${world.rssi} dBm` : "out of range"}, ${state}.`;
    this.power.textContent = world.power ? `Its radio draws ${current(world.power.averageMicroamperes)} on average so far: ` +
      `${world.power.days.toLocaleString("en")} days with a coin cell of ${world.power.batteryMilliampereHours} mAh.` : "";
    this.showPlaces(world.devices);
    this.showStates(world);
    allow(this.dropped, world.isConnected && !world.isDropping, world.isDropping ? "Packets get lost until the link has ended."
      : world.isConnected ? "Packets get lost until the link has ended, and no longer" : "There is no link.");
    this.press(this.far, world.faults.includes(FAR), "Take out of range", "Bring back into range");
    this.far.title = "No other device hears it until you bring it back";
    this.fault.offer(world.possibleFaults.filter(({ name }) => ![JAMMED, FAR, BATTERY].includes(name)));
    // Jammed channels are the radio's, and the loss of a link that is dropped ends by itself.
    const lasting = world.faults.filter((fault) => !fault.startsWith(JAMMED) && fault !== FAR && !(world.isDropping && fault === "lossy=1"));
    const faults = lasting.join();
    if (this.shown?.faults === faults) return;
    this.shown = { ...this.shown, faults };
    replace(this.faults, ...lasting.map((fault) => element("li", {}, faultWords(fault, world.possibleFaults),
      this.button(`world-end-${fault}`, "End", () => this.act("end", { text: fault }), { "aria-label": `End ${fault}` }))));
  }

  showStates(world) {
    const own = this.sensorState(world);
    const states = [[own.words.split(",")[0], own.tone], world.isAdvertising ? ["advertising", "air"] : null,
      this.isEncrypted(world) ? ["encrypted", "secure"] : null].filter(Boolean);
    const text = states.join();
    if (this.shown?.states === text) return;
    this.shown = { ...this.shown, states: text };
    this.states.replaceChildren(...states.map(([words, tone]) => element("span", { class: `tag ${tone}` }, words)));
  }

  press(button, isPressed, begin, end) {
    button.textContent = isPressed ? end : begin;
    button.setAttribute("aria-pressed", isPressed);
  }

  /** The positions as numbers, which can be typed. */
  showPlaces(devices) {
    if (!this.places.childElementCount) {
      this.places.replaceChildren(...devices.map(({ key, name }) => element("form", { class: "verbs place",
        onsubmit: (event) => { event.preventDefault(); this.place(key); } },
        element("span", {}, name),
        ...["x", "y"].map((axis) => element("label", {}, `${axis} `, element("input", { id: `place-${key}-${axis}`,
          type: "number", step: 0.1, min: -1000, max: 1000, "aria-label": `${name}, ${axis} in metres`,
          onchange: () => this.place(key) }))))));
    }
    for (const device of devices) {
      const [{ key }, { x, y }] = [device, this.map.place(device)];
      for (const [axis, value] of [["x", x], ["y", y]]) {
        const field = document.getElementById(`place-${key}-${axis}`);
        if (field && field !== document.activeElement) field.value = value;
      }
    }
  }

  place(device) {
    const [x, y] = ["x", "y"].map((axis) => document.getElementById(`place-${device}-${axis}`).valueAsNumber);
    // It stays there until the world says so, so that a second number does not bring the first one back.
    if (Number.isFinite(x) && Number.isFinite(y)) this.map.put(device, x, y, false, true);
  }

  showApp({ app }) {
    const { status } = this.page.model;
    const isKept = Boolean(status?.preserved.some((each) => each.app === app.name));
    const hasActivity = Boolean(status?.apps.some((each) => each.name === app.name && each.hasLiveActivity));
    this.verbs.show({ phase: app.phase, canLaunch: true, isKept, hasActivity });
    const phase = app.phase === "notRunning" ? "not running" : app.phase;
    const parts = [`${app.name}: ${phase}`, app.shows, app.value].filter(Boolean);
    this.app.textContent = parts.join(", ");
    this.phase.textContent = phase;
    this.phase.className = `tag ${PHASES[app.phase] ?? ""}`;
  }

  showRadio(world) {
    if (document.activeElement !== this.noise) this.noise.value = world.noise ?? "";
    this.jams.forEach((button, channel) => button.setAttribute("aria-pressed", world.faults.includes(this.jam(channel))));
    this.press(document.getElementById("world-jam-advertising"),
      ADVERTISING.every((channel) => world.faults.includes(this.jam(channel))), "Jam advertising", "Unjam advertising");
    const jammed = this.jams.map((_, channel) => channel).filter((channel) => world.faults.includes(this.jam(channel)));
    this.jammed.textContent = jammed.length ? `Jammed ${jammed.length === 1 ? "channel" : "channels"}: ${jammed.join(", ")}.` : "";
    const reason = isBehindWall(world) ? "There is a wall between them." : this.metres ? "" : "They are at the same place.";
    allow(this.wall, !reason, reason);
    const walls = JSON.stringify(world.walls);
    if (this.shown?.walls === walls) return;
    this.shown = { ...this.shown, walls };
    replace(this.walls, ...world.walls.map((wall, index) => element("li", {},
      `Wall of ${wall.attenuation} dB from (${wall.x}, ${wall.y}) to (${wall.x2}, ${wall.y2}) `,
      this.button(`world-unwall-${index}`, "Remove", () => this.act("removeWall", { amount: index }),
        { "aria-label": `Remove wall ${index + 1}` }))));
  }

  showStory() {
    const { model } = this.page;
    const { story, firstLine } = model;
    const { generation } = this.world;
    let { first, next } = this.told;
    if (this.told.generation !== generation || firstLine >= next) {
      this.story.replaceChildren();
      [first, next] = [firstLine, firstLine];
      if (this.told.generation && this.told.generation !== generation) this.line = -1;
    }
    next = Math.max(Math.min(next, model.changedLine), first);
    model.changedLine = Infinity;
    while (this.story.childElementCount > next - first) this.story.lastElementChild.remove();
    this.forgetLines(firstLine - first);
    next = Math.max(next, firstLine);
    this.story.append(...story.slice(next - firstLine).map(({ text }, place) => this.row(text, next + place)));
    this.told = { generation, first: firstLine, next: firstLine + story.length };
    this.markLine();
    if (this.follows) this.story.scrollTop = this.story.scrollHeight;
  }

  /** Removes the oldest lines, without moving those that are being read. */
  forgetLines(count) {
    if (count <= 0) return;
    const before = this.story.scrollHeight;
    for (let number = 0; number < count; number += 1) this.story.firstElementChild?.remove();
    if (!this.follows) this.story.scrollTop -= before - this.story.scrollHeight;
  }

  row(text, number) {
    const time = text.match(TIME)?.[0] ?? "";
    return element("div", { role: "option", id: `story-${number}`, "aria-selected": "false",
      class: text.includes(SHOWN) ? "shows" : WRONG.test(text) ? "bad" : null },
      element("span", { class: "time" }, time), text.slice(time.length));
  }

  showTest() {
    const text = this.page.model.worldTest;
    this.test.hidden = text === null;
    if (this.shown?.test === text) return;
    this.shown = { ...this.shown, test: text };
    if (this.address) URL.revokeObjectURL(this.address);
    if (text === null) return this.test.replaceChildren();
    this.address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    this.test.replaceChildren(
      element("p", {}, "Put this into the folder of a test target, as WorldTests.swift. The target depends on the products " +
        "Accessories, BluetoothTesting and CoreBluetooth of the package harald. Then run swift test."),
      element("div", { class: "tools" },
        this.button("test-copy", "Copy", () => this.copy(text)),
        element("a", { id: "test-download", href: this.address, download: "WorldTests.swift" }, "Download WorldTests.swift"),
        this.button("test-close", "Close", () => { this.page.model.worldTest = null; this.showTest(); })),
      element("pre", { class: "code", tabindex: 0, role: "region", "aria-label": "The test" }, text));
    document.getElementById("test-copy").focus();
  }

  /** Copies a text. A browser that does not let a page do that gets the text selected. */
  async copy(text) {
    const done = await navigator.clipboard?.writeText(text).then(() => true, () => false);
    if (!done) getSelection().selectAllChildren(this.test.querySelector("pre"));
    const button = document.getElementById("test-copy");
    if (button) button.textContent = done ? "Copied" : "Selected: press Ctrl-C";
  }
}
