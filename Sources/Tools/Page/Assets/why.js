import { element, timer } from "./elements.js";
import { packetNumbered } from "./model.js";

const KINDS = { packet: ["HCI", "accent"], air: ["air", "air"], event: ["event", ""], call: ["call", "good"], act: ["done here", "warn"],
  hint: ["likely cause", "bad"] };

/** Why an event or a packet of a world happened: the chain of its causes, the last one first. */
export class Why {
  constructor(page) {
    this.page = page;
    this.parts = ["why", "packets", "world"];
  }

  open(view) {
    const [, kind, number] = location.hash.split("/");
    this.subject = { kind: kind === "event" ? "event" : "packet", number: Number(number) };
    this.page.model.why = null;
    this.shown = null;
    this.title = element("h2", {}, `Why ${this.subject.kind} ${this.subject.number}?`);
    this.area = element("div", { role: "status" }, element("p", { class: "quiet" }, "Looking for the causes…"));
    view.replaceChildren(element("section", { class: "card why", "aria-label": "Causes" }, this.title, this.area));
    this.asked = false;
    this.show();
  }

  show() {
    const { world, why } = this.page.model;
    if (world && !this.asked) {
      this.asked = true;
      this.page.send({ verb: "world", act: "why", [this.subject.kind]: this.subject.number });
    }
    if (!why || why.kind !== this.subject.kind || why.number !== this.subject.number) return;
    // The words of packets may still be on their way.
    const steps = why.steps.map((step) => ({ ...step, words: this.words(step) }));
    const text = JSON.stringify(steps);
    if (this.shown === text) return;
    this.shown = text;
    if (!steps.length) {
      this.area.replaceChildren(element("p", {}, `The ${why.kind} is not kept: only the last ones are.`));
      return;
    }
    this.area.replaceChildren(element("ol", {}, ...steps.map((step) => this.step(step))),
      ...(why.effects.length ? [element("p", {}, "It caused ", ...why.effects.flatMap((number, index) =>
        [index ? ", " : null, element("a", { href: `#why/packet/${number}` }, `packet ${number}`)]))] : []));
  }

  words({ kind, number, text }) {
    if (kind !== "packet" && kind !== "air") return text;
    return packetNumbered(this.page.model.packets.items, number)?.text ?? "a packet that this page does not have any more";
  }

  step({ kind, number, milliseconds, words, reason, section, place }) {
    const [name, tone] = KINDS[kind];
    const isPacket = kind === "packet" || kind === "air";
    const link = isPacket ? `#packets/${number}` : number ? `#events/${number}` : null;
    return element("li", {},
      element("p", {}, element("span", { class: "code quiet" }, timer(milliseconds)), " ", element("span", { class: `tag plain ${tone}` }, name), " ",
        link ? element("a", { href: link }, isPacket ? `packet ${number}` : `event ${number}`) : null, link ? ": " : null,
        words ?? "", place ? element("span", { class: "code" }, ` at ${place}`) : null),
      reason ? element("p", { class: "quiet small" }, `↑ ${reason}`, section ? ` [${section}]` : "") : null);
  }
}
