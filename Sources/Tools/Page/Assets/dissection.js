import { element } from "./elements.js";

/** A packet as a tree of layers and fields beside its octets. A field selects its octets, and an octet its field. */
export class Dissection {
  constructor({ octets, parts }) {
    this.nodes = [];
    const tree = element("div", { class: "tree", role: "group", "aria-label": "Fields" });
    for (const part of parts) {
      tree.append(this.node(part, "layer", [element("span", {}, part.layer.toUpperCase()), " "], part.text));
      for (const field of part.fields ?? []) {
        tree.append(this.node(field, field.depth ? "deeper" : "deep", [`${field.name}: `], field.text));
      }
    }
    this.octets = (octets.match(/../g) ?? []).map((octet, place) =>
      element("span", { onclick: () => this.choose(this.at(place)) }, octet));
    const lines = [];
    for (let place = 0; place < this.octets.length; place += 16) {
      lines.push(`${place.toString(16).padStart(4, "0")} `, ...this.octets.slice(place, place + 16), "\n");
    }
    this.view = element("div", { class: "dissection" }, tree,
      element("pre", { class: "code octets", tabindex: 0, role: "group", "aria-label": "Octets" }, ...lines));
  }

  node({ start, count }, kind, head, text) {
    const button = element("button", { type: "button", class: kind, onclick: () => this.choose(node) }, ...head, text);
    const node = { start, count, button };
    this.nodes.push(node);
    return button;
  }

  /** The smallest field around an octet. */
  at(place) {
    return this.nodes.filter(({ start, count }) => start <= place && place < start + count)
      .reduce((best, node) => (best && best.count < node.count ? best : node), null);
  }

  choose(node) {
    for (const each of this.nodes) {
      each.button.classList.toggle("lit", each === node);
      each.button.setAttribute("aria-pressed", each === node);
    }
    this.octets.forEach((octet, place) =>
      octet.classList.toggle("lit", Boolean(node) && node.start <= place && place < node.start + node.count));
    node?.button.scrollIntoView({ block: "nearest" });
  }
}
