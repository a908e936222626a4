import { AdviceList, adviceForApps } from "./advice.js";
import { Apps } from "./apps.js";
import { Device } from "./device.js";
import { Devices } from "./devices.js";
import { element } from "./elements.js";
import { Events } from "./events.js";
import { Model } from "./model.js";
import { Packets } from "./packets.js";
import { Prompts } from "./prompts.js";
import { Why } from "./why.js";
import { World } from "./world.js";

const SHOWN_MILLISECONDS = 33;
const PAUSE_MILLISECONDS = 1000;
const CLOCK_MILLISECONDS = 1000;
const TROUBLE_MILLISECONDS = 10000;
const NO_TOKEN = "Open the address that was printed when the page started; it contains the key.";
// The status code of a WebSocket whose token is not that of this run.
const STALE_TOKEN = 4001;

/** Connects the model with the server and the views. Draws at most thirty times a second, and only what is in sight. */
class Page {
  constructor() {
    this.model = new Model();
    this.view = document.getElementById("view");
    this.views = {
      devices: new Devices(this), device: new Device(this), apps: new Apps(this), events: new Events(this),
      packets: new Packets(this), advice: new AdviceList(this), world: new World(this), why: new Why(this),
    };
    this.prompts = new Prompts(this, document.getElementById("prompts"));
    this.changed = new Set();
    this.isScheduled = false;
    this.lastId = 0;
    // Nothing until the user, or a world, says so.
    this.wantsPackets = null;
    document.getElementById("trouble-close").addEventListener("click", () => this.tell(""));
    window.addEventListener("hashchange", () => {
      if (this.keepToken()) this.connect();
      this.open();
    });
    document.addEventListener("click", (event) => this.leave(event.target.closest?.("a[href^='#']")), true);
    this.keepToken();
    this.open();
    this.connect();
    // Ages and lives grow without a message.
    setInterval(() => { if (!document.hidden) this.note(["clock"]); }, CLOCK_MILLISECONDS);
  }

  get name() {
    const name = location.hash.slice(1).split("/")[0];
    return name in this.views ? name : this.model.world ? "world" : "devices";
  }

  open() {
    for (const link of document.querySelectorAll("nav a")) {
      if (link.hash === `#${this.name === "device" ? "devices" : this.name}`) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    this.current = this.views[this.name];
    this.current.open(this.view);
  }

  /** Lets Back lead to what is chosen in a view that a link leaves. */
  leave(link) {
    const place = this.current.chosenPlace;
    const [name] = place?.slice(1).split("/") ?? [];
    if (place && link && link.hash.slice(1).split("/")[0] !== name) history.replaceState(null, "", place);
  }

  /** Moves a token from the address to the storage of this tab, so that it does not stay in the history. */
  keepToken() {
    const token = location.hash.match(/^#token=([0-9a-f]+)$/)?.[1];
    if (!token) return false;
    sessionStorage.setItem("token", token);
    history.replaceState(null, "", location.pathname);
    return true;
  }

  connect() {
    const token = sessionStorage.getItem("token");
    if (!token) return this.lose(NO_TOKEN);
    const last = this.socket;
    const socket = new WebSocket(`ws://${location.host}/socket`);
    this.socket = socket;
    last?.close();
    socket.onopen = () => socket.send(JSON.stringify({ token }));
    socket.onmessage = (event) => this.receive(JSON.parse(event.data));
    socket.onclose = (event) => {
      if (socket !== this.socket) return;
      if (event.code === STALE_TOKEN) {
        sessionStorage.removeItem("token");
        return this.lose("This key is from an earlier start. Open the address that was printed last.");
      }
      this.lose("The connection to Harald is lost. Trying again…");
      setTimeout(() => { if (socket === this.socket) this.connect(); }, PAUSE_MILLISECONDS);
    };
  }

  lose(reason) {
    this.isLost = true;
    this.note(["status"]);
    this.tell(reason, true);
  }

  begin() {
    this.model = new Model();
    this.isLost = this.isFetching = false;
    this.tell("");
    this.note(["status", "devices", "apps", "events", "packets", "energy"]);
    if (this.wantsPackets) this.send({ verb: "packets", on: true });
  }

  /** Follows the packets of the controller, or no longer. */
  followPackets(on) {
    this.wantsPackets = on;
    this.model.refusals.delete("packets");
    this.send({ verb: "packets", on });
    this.note(["packets"]);
  }

  receive(message) {
    if (message.type === "open") return this.begin();
    if (message.type === "ticket") return element("a", { href: message.value, download: "" }).click();
    if (message.type === "outcome") return this.tell(message.value.error ?? "");
    if (message.type === "trouble") return this.tell(message.value);
    this.note(this.model.take(message));
    if (message.type === "packets" || message.type === "earlier") this.fetchEarlier(message.type === "earlier");
  }

  /** Asks for packets from before this page was open, some at a time. */
  fetchEarlier(isAnswer) {
    if (isAnswer) this.isFetching = false;
    const number = this.model.missingBefore;
    if (number === null || this.isFetching) return;
    this.isFetching = true;
    this.send({ verb: "earlier", packet: number });
  }

  send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    this.lastId += 1;
    this.socket.send(JSON.stringify({ ...message, id: this.lastId }));
  }

  /** Shows a fault over the page for some seconds, or until it is over; an empty text takes it away. */
  tell(text, lasts = false) {
    clearTimeout(this.troubleTimer);
    document.getElementById("trouble").hidden = !text;
    document.getElementById("trouble-text").textContent = text;
    if (text && !lasts) this.troubleTimer = setTimeout(() => this.tell(""), TROUBLE_MILLISECONDS);
  }

  /** The name of a device, or else its identifier. */
  nameOf(peer) {
    return this.model.deviceTable.get(peer)?.name ?? this.model.found.get(peer)?.name ?? peer;
  }

  note(parts) {
    for (const part of parts) this.changed.add(part);
    if (this.isScheduled) return;
    this.isScheduled = true;
    setTimeout(() => requestAnimationFrame(() => this.show()), SHOWN_MILLISECONDS);
  }

  show() {
    this.isScheduled = false;
    const changed = this.changed;
    this.changed = new Set();
    if (changed.has("status")) this.showRadio();
    if (changed.has("world")) this.showWorld();
    if (changed.has("prompts")) this.prompts.show();
    if (changed.has("advice")) {
      const count = document.getElementById("advice-count");
      const advice = adviceForApps(this.model);
      count.textContent = advice.length;
      count.hidden = !advice.length;
      count.classList.toggle("hint", advice.every((each) => each.hint));
    }
    if (this.current.parts.some((part) => changed.has(part))) this.current.show();
  }

  /** Shows the way to the world, and the world itself if no other view was asked for. Follows its packets. */
  showWorld() {
    if (this.wantsPackets === null) this.followPackets(true);
    const link = document.getElementById("world-link");
    const isNew = link.hidden;
    link.hidden = !this.model.world;
    if (isNew && !location.hash) this.open();
  }

  showRadio() {
    const status = this.model.status;
    const words = { poweredOn: "on", poweredOff: "off", unsupported: "not available", resetting: "starting again", unknown: "not on yet" };
    const radio = document.getElementById("radio");
    radio.textContent = this.isLost ? "Not connected to Harald" : status
      ? `Bluetooth is ${words[status.state] ?? status.state}${status.failure ? `: ${status.failure}` : ""}` : "";
    radio.className = `tag ${this.isLost ? "bad" : status?.state === "poweredOn" ? "good" : "warn"}`;
    radio.hidden = !radio.textContent;
  }
}

new Page();
