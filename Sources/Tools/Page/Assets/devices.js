import { count, element, replace } from "./elements.js";
import { deviceIcon } from "./icons.js";
import { Rings } from "./rings.js";

const COLUMNS = [
  ["Name", (device) => device.name ?? "", "name"],
  ["Identifier", (device) => device.identifier, "wide"],
  ["Signal", (device) => device.rssi ?? -999, ""],
  ["Advertises", (device) => advertised(device.advertised), "wide"],
  ["Seen", (device) => -(device.lastSeen ?? -Infinity), ""],
  ["State", (device) => (device.isConnected ? 2 : 0) + (device.isBonded ? 1 : 0), ""],
];

// A table of all devices would take longer to draw than a frame.
const ROWS_AT_ONCE = 100;
const PAUSE_MILLISECONDS = 500;
// A device that was silent for as long may be gone.
const OLD_SECONDS = 30;
// The signal strengths in dBm from which on there is one more bar.
const BARS = [-95, -82, -70, -58];

/** Why a page with a world does not scan and connect. */
export const WORLD_ONLY = "In a world, only its own apps can scan and connect.";

/** What a device advertises, in words. */
function advertised(found) {
  return found ? [...found.services, found.company].filter(Boolean).join(", ") : "";
}

/** The properties of a link, in words. */
export function linkWords({ intervalMicroseconds, mtu, encryption }) {
  const words = { none: "not encrypted", authenticated: "encrypted with an authenticated key" };
  return `connection interval ${intervalMicroseconds / 1000} ms, MTU ${mtu}, ${words[encryption] ?? encryption}`;
}

/** A signal strength as bars. */
function signalBars(rssi) {
  return element("svg", { class: "bars", viewBox: "0 0 20 14", "aria-hidden": "true" }, ...BARS.map((least, index) =>
    element("rect", { class: rssi >= least ? "on" : null, x: index * 5, y: 10 - index * 3, width: 4, height: 4 + index * 3 })));
}

/** The devices known to the system, as a table with a filter. */
export class Devices {
  constructor(page) {
    this.page = page;
    this.order = 5;
    this.isDescending = true;
    this.filter = "";
    this.isMapped = false;
    this.most = ROWS_AT_ONCE;
    this.lastDrawn = 0;
    this.later = null;
    this.parts = ["devices", "status", "clock"];
  }

  open(view) {
    this.rows = element("tbody");
    this.heads = element("tr");
    this.count = element("span", { class: "quiet small", role: "status" });
    this.none = element("div", { class: "card empty" }, element("h2", {}, "No devices yet"),
      element("p", {}, "Press Scan to find those nearby."));
    this.rings = new Rings();
    const filter = element("input", {
      type: "search", id: "device-filter", placeholder: "Name or identifier", "aria-label": "Filter devices",
      oninput: (event) => { this.filter = event.target.value.toLowerCase(); this.draw(); },
    });
    filter.value = this.filter;
    this.button = element("button", {
      id: "scan", class: "main", onclick: () => this.page.send({ verb: "scan", on: !this.page.model.isScanning }),
    }, "Scan");
    this.map = element("details", { ontoggle: () => this.draw() }, element("summary", {}, "Map by signal strength"),
      this.rings.view);
    this.map.open = this.isMapped;
    this.more = element("button", {
      id: "more", onclick: () => { this.most += ROWS_AT_ONCE; this.draw(); },
    }, "Show more");
    this.reason = element("span", { class: "quiet small" }, WORLD_ONLY);
    this.table = element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Devices" },
      element("table", {}, element("thead", {}, this.heads), this.rows));
    view.replaceChildren(
      element("div", { class: "tools" }, this.button, this.reason, filter, this.count), this.map,
      this.none, this.table, this.more);
    this.draw();
  }

  /** Draws what has changed, but not at once if that was done a moment ago. */
  show() {
    if (performance.now() - this.lastDrawn >= PAUSE_MILLISECONDS) return this.draw();
    this.later ??= setTimeout(() => {
      this.later = null;
      if (this.page.current === this) this.draw();
    }, PAUSE_MILLISECONDS);
  }

  draw() {
    this.lastDrawn = performance.now();
    replace(this.heads, ...COLUMNS.map(([name, , kind], index) => element("th", {
      class: kind === "wide" ? "wide" : null, scope: "col",
      "aria-sort": index === this.order ? (this.isDescending ? "descending" : "ascending") : null,
    }, element("button", { id: `sort-${index}`, onclick: () => this.sort(index) },
      name, index === this.order ? (this.isDescending ? " ↓" : " ↑") : ""))));
    const isInWorld = Boolean(this.page.model.world);
    this.button.hidden = isInWorld;
    this.reason.hidden = !isInWorld;
    this.button.textContent = this.page.model.isScanning ? "Stop" : "Scan";
    const shown = this.all().filter((device) => !this.filter ||
      [device.name, device.identifier, advertised(device.advertised)].some((each) =>
        (each ?? "").toLowerCase().includes(this.filter)));
    this.isMapped = this.map.open;
    if (this.map.open) this.rings.show(shown);
    const value = COLUMNS[this.order][1];
    shown.sort((first, second) => {
      const [one, two] = [value(first), value(second)];
      const order = one < two ? -1 : one > two ? 1 : first.identifier < second.identifier ? -1 : 1;
      return this.isDescending ? -order : order;
    });
    this.none.hidden = Boolean(shown.length || this.filter || isInWorld || this.page.model.isScanning);
    this.table.hidden = this.map.hidden = !this.none.hidden;
    this.count.textContent = count(shown.length, "device");
    replace(this.rows, ...shown.slice(0, this.most).map((device) => this.row(device)));
    this.more.hidden = shown.length <= this.most;
  }

  /** The devices that the service knows, with what the scan of this page has found. */
  all() {
    const { devices, found, world } = this.page.model;
    // No scan of this page hears a device of a world, which tells itself what it advertises.
    const told = new Map((world?.devices ?? []).filter((each) => each.advertised)
      .map((each) => [each.name, { services: each.advertised }]));
    const known = new Set(devices.map((device) => device.identifier));
    const more = [...found.values()].filter((each) => !known.has(each.identifier));
    return [...devices, ...more].map((device) => {
      const seen = found.get(device.identifier);
      return { ...device, name: device.name ?? seen?.name, advertised: seen ?? told.get(device.name) };
    });
  }

  sort(index) {
    this.isDescending = index === this.order ? !this.isDescending : false;
    this.order = index;
    this.draw();
  }

  row(device) {
    const links = this.page.model.status?.links ?? [];
    const link = links.find((each) => each.peer === device.identifier);
    return element("tr", { class: this.age(device) > OLD_SECONDS ? "old" : null },
      element("td", {}, element("div", { class: "name" }, deviceIcon(device.name, ...(device.advertised?.services ?? [])),
        element("a", { href: `#device/${device.identifier}`, id: `open-${device.identifier}` }, device.name ?? "no name"))),
      element("td", { class: "code wide quiet" }, device.identifier),
      element("td", { class: "number" }, this.signal(device), this.curve(device)),
      element("td", { class: "wide" }, advertised(device.advertised)),
      element("td", { class: "number" }, this.seen(device)),
      element("td", {}, element("div", { class: "verbs" },
        device.isConnected ? element("span", { class: "tag good" }, "connected") : null,
        link && link.encryption !== "none" ? element("span", { class: "tag secure" }, "encrypted") : null,
        device.isBonded ? element("span", { class: "tag secure" }, "bonded") : null),
        link ? element("div", { class: "quiet small" }, linkWords(link)) : null,
        link?.apps?.length ? element("div", { class: "quiet small" }, `used by ${link.apps.join(", ")}`) : null));
  }

  /** The strength of the last advertisement: of a connected device, which sends none, that of the world, or none. */
  signal({ isConnected, rssi }) {
    const { world } = this.page.model;
    const known = !isConnected ? rssi : world?.isConnected ? world.rssi : undefined;
    return known === undefined ? null : [signalBars(known), `${known} dBm`];
  }

  /** The seconds since a device was heard, if it is not connected. */
  age({ isConnected, lastSeen }) {
    return isConnected || lastSeen === undefined ? 0 : Math.max(0, Math.round(Date.now() / 1000 - lastSeen));
  }

  seen(device) {
    if (device.isConnected) return "now";
    const seconds = this.age(device);
    if (device.lastSeen === undefined) return "";
    return seconds < 120 ? `${seconds} s ago` : seconds < 7200 ? `${Math.round(seconds / 60)} min ago` : `${Math.round(seconds / 3600)} h ago`;
  }

  curve(device) {
    const signals = this.page.model.signals.get(device.identifier) ?? [];
    if (signals.length < 2) return null;
    const points = signals.map((each, index) => `${index},${Math.min(20, Math.max(0, (-30 - each) / 3.5))}`);
    return element("svg", { class: "curve", viewBox: "0 0 120 20", width: 120, height: 20, "aria-hidden": "true" },
      element("polyline", { points: points.join(" "), fill: "none", stroke: "currentColor" }));
  }
}
