import { WORLD_ONLY, linkWords } from "./devices.js";
import { allow, clock, element, replace } from "./elements.js";
import { deviceIcon } from "./icons.js";
import { ofPeer } from "./energy.js";

// A plot in pixels: its size, and the room for the axes.
const PLOT = { width: matchMedia("(max-width: 600px)").matches ? 340 : 640, height: 130, left: 44, right: 8, top: 8, bottom: 22 };
const MOST_PLOTTED = 100;
// The Ranging Service, by which a device lets its distance be measured.
const RANGING = "(185B)";

/** One device: its link, and its attributes with their values. */
export class Device {
  constructor(page) {
    this.page = page;
    this.parts = ["device", "devices", "status", "energy"];
    this.followed = new Set();
    /** The characteristics whose values are written as text. */
    this.asText = new Set();
  }

  get peer() { return location.hash.split("/")[1] ?? ""; }

  open(view) {
    this.head = element("div", { class: "card" });
    this.table = element("div");
    view.replaceChildren(element("p", {}, element("a", { href: "#devices" }, "All devices")), this.head, this.table);
    this.show();
  }

  show() {
    const { tables, status } = this.page.model;
    const table = tables.get(this.peer);
    const link = status?.links.find((each) => each.peer === this.peer);
    const [isMeasuring, distances] = [this.page.model.measuring.has(this.peer), this.page.model.values.get(`${this.peer}/distance`) ?? []];
    if (!table) this.followed.clear();
    replace(this.head,
      element("h2", {}, deviceIcon(this.page.nameOf(this.peer), ...(table?.services ?? []).map(({ title }) => title)),
        this.page.nameOf(this.peer), element("span", { class: `tag ${link ? "good" : ""}` }, link ? "connected" : "not connected"),
        link && link.encryption !== "none" ? element("span", { class: "tag secure" }, "encrypted") : null),
      element("p", { class: "code quiet" }, this.peer),
      element("p", {}, link
        ? `Connected: ${linkWords(link)}${link.isBonded ? ", bonded" : ""}${link.apps.length ? `, used by ${link.apps.join(", ")}` : ""}.`
        : "Not connected."),
      ...[ofPeer(this.page.model.energy, this.peer)].filter(Boolean),
      element("div", { class: "verbs" },
        element("button", {
          id: "connect", class: table ? null : "main",
          onclick: () => this.page.send({ verb: "connect", peer: this.peer, on: !table }),
        }, table ? "Disconnect" : "Connect"),
        table ? element("button", { id: "read-all", onclick: () => this.readAll(table) }, "Read all") : null,
        table?.services.some(({ title }) => title.endsWith(RANGING)) ? element("button", {
          id: "measure", "aria-pressed": isMeasuring,
          onclick: () => this.page.send({ verb: "measure", peer: this.peer, on: !isMeasuring }),
        }, isMeasuring ? "Stop measuring" : "Measure the distance") : null,
        this.page.model.world ? element("span", { class: "quiet small" }, WORLD_ONLY) : null,
        link?.isBonded ? element("button", {
          id: "forget", onclick: () => this.page.send({ verb: "forget", peer: this.peer }),
        }, "Forget the bond") : null),
      ...(distances.length ? [element("div", { class: "attribute", id: "distance" }, element("strong", {}, "Distance"),
        this.last(distances.at(-1)), this.plot(distances, "Distance"))] : []));
    if (this.page.model.world) {
      for (const button of this.head.querySelectorAll("button")) allow(button, false, WORLD_ONLY);
    }
    replace(this.table, ...(table?.services ?? []).map((service) => this.service(service)));
  }

  service(service) {
    return element("section", { class: "app" },
      element("h2", {}, service.title),
      ...service.characteristics.map((each) => this.characteristic(each)));
  }

  readAll({ services }) {
    for (const { key, canRead } of services.flatMap(({ characteristics }) => characteristics)) {
      if (canRead) this.page.send({ verb: "read", peer: this.peer, key });
    }
  }

  characteristic(each) {
    const values = this.page.model.values.get(`${this.peer}/${each.key}`) ?? [];
    const last = values.at(-1);
    return element("div", { class: "attribute" },
      element("div", { class: "verbs" }, element("strong", {}, each.title), " ",
        ...(each.properties ?? []).map((property) => element("span", { class: "tag plain" }, property))),
      last ? this.last(last) : null,
      this.plot(values, each.title), this.verbs(each));
  }

  /** A value, in words and in hexadecimal. */
  last({ words, hexadecimal, time }) {
    return element("div", {}, element("span", { class: "value", title: hexadecimal }, words), " ",
      element("span", { class: "quiet small" }, ` at ${clock(time)}`), " ",
      element("span", { class: "quiet code" }, hexadecimal));
  }

  verbs({ key, title, canRead, canNotify, canWrite }) {
    const send = (verb, more = {}) => this.page.send({ verb, peer: this.peer, key, ...more });
    const [follows, isText] = [this.followed.has(key), this.asText.has(key)];
    const field = element("input", { id: `value-${key}`, class: "code", placeholder: isText ? "Text" : "01 FF", size: 16,
      "aria-label": `Value for ${title}, ${isText ? "as text" : "in hexadecimal"}` });
    field.value = document.getElementById(`value-${key}`)?.value ?? "";
    const form = element("select", { id: `form-${key}`, "aria-label": `Form of the value for ${title}`, onchange: (event) => {
      if (event.target.value === "text") this.asText.add(key); else this.asText.delete(key);
      this.show();
    } }, element("option", { value: "hexadecimal" }, "Hex"), element("option", { value: "text" }, "Text"));
    form.value = isText ? "text" : "hexadecimal";
    const write = (event) => {
      event.preventDefault();
      send("write", { value: this.asText.has(key) ? hexadecimal(field.value) : field.value });
    };
    const follow = () => {
      if (follows) this.followed.delete(key); else this.followed.add(key);
      send("follow", { on: !follows });
      this.show();
    };
    return element("form", { class: "verbs", onsubmit: write },
      canRead ? element("button", { type: "button", id: `read-${key}`, "aria-label": `Read ${title}`, onclick: () => send("read") }, "Read") : null,
      canNotify ? element("button", { type: "button", id: `follow-${key}`, "aria-pressed": follows, "aria-label": `Follow ${title}`,
        onclick: follow }, follows ? "Stop" : "Follow") : null,
      ...(canWrite ? [form, field, element("button", { id: `write-${key}`, "aria-label": `Write ${title}` }, "Write")] : []));
  }

  /** The numbers of the last values over time, with axes. */
  plot(values, title) {
    const shown = values.filter((each) => each.isNotified && each.number !== undefined).slice(-MOST_PLOTTED);
    if (shown.length < 2) return null;
    const numbers = shown.map(({ number }) => number);
    const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
    const unit = shown.at(-1).words.match(/^-?[\d.]+ ([^\s,]+)/)?.[1] ?? "";
    const { width, height, left, right, top, bottom } = PLOT;
    const [start, end] = [shown[0].time, shown.at(-1).time];
    const x = (time) => left + (end > start ? (time - start) / (end - start) : 1) * (width - left - right);
    const y = (number) => top + (most > least ? (most - number) / (most - least) : 0.5) * (height - top - bottom);
    const text = (words, at, anchor = "end") => element("text", { ...at, "text-anchor": anchor }, words);
    const ticks = most > least ? [least, (least + most) / 2, most] : [least];
    return element("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `${title}: the last ${numbers.length} values, from ${least} to ${most} ${unit}` },
      ...ticks.flatMap((tick) => [element("line", { x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
        text(`${Number(tick.toPrecision(4))}`, { x: left - 6, y: y(tick) + 4 })]),
      text(unit, { x: left - 6, y: height - 6 }),
      text(`${Math.round(end - start)} s ago`, { x: left, y: height - 6 }, "start"), text("now", { x: width - right, y: height - 6 }),
      element("polyline", { points: shown.map(({ time, number }) => `${x(time)},${y(number)}`).join(" ") }));
  }
}

/** The octets of a text in UTF-8. */
function hexadecimal(text) {
  return [...new TextEncoder().encode(text)].map((octet) => octet.toString(16).padStart(2, "0")).join("");
}
