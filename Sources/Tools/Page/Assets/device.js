import { WORLD_ONLY, linkWords } from "./devices.js";
import { allow, clock, element, replace } from "./elements.js";
import { ofPeer } from "./energy.js";

/** One device: its link, and its attributes with their values. */
export class Device {
  constructor(page) {
    this.page = page;
    this.parts = ["device", "devices", "status", "energy"];
    this.followed = new Set();
  }

  get peer() { return location.hash.split("/")[1] ?? ""; }

  open(view) {
    this.head = element("div");
    this.table = element("div");
    view.replaceChildren(element("p", {}, element("a", { href: "#devices" }, "All devices")), this.head, this.table);
    this.show();
  }

  show() {
    const { tables, status } = this.page.model;
    const table = tables.get(this.peer);
    const link = status?.links.find((each) => each.peer === this.peer);
    if (!table) this.followed.clear();
    replace(this.head,
      element("h2", {}, this.page.nameOf(this.peer)),
      element("p", { class: "code" }, this.peer),
      element("p", {}, link
        ? `Connected: ${linkWords(link)}${link.isBonded ? ", bonded" : ""}${link.apps.length ? `, used by ${link.apps.join(", ")}` : ""}.`
        : "Not connected."),
      ...[ofPeer(this.page.model.energy, this.peer)].filter(Boolean),
      element("div", { class: "verbs" },
        element("button", {
          id: "connect", class: table ? null : "main",
          onclick: () => this.page.send({ verb: "connect", peer: this.peer, on: !table }),
        }, table ? "Disconnect" : "Connect"),
        this.page.model.world ? element("span", { class: "quiet" }, WORLD_ONLY) : null,
        link?.isBonded ? element("button", {
          id: "forget", onclick: () => this.page.send({ verb: "forget", peer: this.peer }),
        }, "Forget the bond") : null));
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

  characteristic(each) {
    const { key } = each;
    const values = this.page.model.values.get(`${this.peer}/${key}`) ?? [];
    const last = values.at(-1);
    const send = (verb, more = {}) => this.page.send({ verb, peer: this.peer, key, ...more });
    const follows = this.followed.has(key);
    const field = element("input", { id: `value-${key}`, class: "code", placeholder: "01 FF", size: 12,
      "aria-label": `Value for ${each.title}, in hexadecimal` });
    field.value = document.getElementById(`value-${key}`)?.value ?? "";
    return element("div", { class: "attribute" },
      element("div", {}, element("strong", {}, each.title), " ",
        last ? element("span", { class: "value", title: last.hexadecimal }, last.words) : null,
        last ? element("span", { class: "quiet" }, ` ${clock(last.time)}`) : null),
      this.plot(values),
      element("form", { class: "verbs", onsubmit: (event) => { event.preventDefault(); send("write", { value: field.value }); } },
        each.canRead ? element("button", { type: "button", id: `read-${key}`, "aria-label": `Read ${each.title}`,
          onclick: () => send("read") }, "Read") : null,
        each.canNotify ? element("button", { type: "button", id: `follow-${key}`, "aria-pressed": follows,
          "aria-label": `Follow ${each.title}`,
          onclick: () => {
            if (follows) this.followed.delete(key); else this.followed.add(key);
            send("follow", { on: !follows });
            this.show();
          } }, follows ? "Stop" : "Follow") : null,
        ...(each.canWrite ? [field, element("button", { id: `write-${key}`, "aria-label": `Write ${each.title}` }, "Write")]
          : [])));
  }

  plot(values) {
    const numbers = values.filter((each) => each.isNotified && each.number !== undefined).slice(-100);
    if (numbers.length < 2) return null;
    const [least, most] = [Math.min(...numbers.map((each) => each.number)), Math.max(...numbers.map((each) => each.number))];
    const points = numbers.map((each, index) =>
      `${index * 5},${most === least ? 25 : 48 - 46 * (each.number - least) / (most - least)}`);
    return element("svg", { class: "plot", viewBox: "0 0 500 50", role: "img", preserveAspectRatio: "none",
      "aria-label": `The last ${numbers.length} values, from ${least} to ${most}` },
      element("polyline", { points: points.join(" "), fill: "none", stroke: "currentColor" }));
  }
}
