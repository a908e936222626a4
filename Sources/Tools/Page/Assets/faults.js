import { element } from "./elements.js";

/** How the number of a fault is shown, by the unit that the world has for it: the words after it, and its factor. */
const UNITS = {
  "a share of packets": ["% of packets", 100], percent: ["%", 1], seconds: ["s", 1], "a channel": ["(channel)", 1],
  "an error code": ["(error code)", 1], "times a second": ["times a second", 1],
};

/** The unit of a fault that is not known yet. */
const unitOf = (number) => UNITS[number.unit] ?? [number.unit, 1];

const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** A fault such as `lossy=0.5` in words, by the faults that are possible. */
export function faultWords(text, possible) {
  const [name, value] = text.split("=");
  const fault = possible.find((each) => each.name === name);
  if (!fault) return text;
  if (!fault.number) return capitalized(fault.summary);
  const [unit, factor] = unitOf(fault.number);
  return `${capitalized(fault.summary)}: ${Number(((value ?? fault.number.usual) * factor).toPrecision(6))} ${unit}`;
}

/** Fields in which a fault and its number are chosen. `begin(text)` receives the fault as the world reads it. */
export class FaultForm {
  constructor(begin) {
    this.possible = [];
    this.choice = element("select", { id: "world-fault", "aria-label": "Fault of the sensor", onchange: () => this.showNumber() });
    this.field = element("input", { id: "world-fault-number", type: "number", step: "any" });
    this.unit = element("span");
    this.number = element("label", {}, this.field, this.unit);
    this.row = element("form", { class: "verbs", onsubmit: (event) => { event.preventDefault(); begin(this.text); } },
      this.choice, this.number, element("button", { id: "world-begin" }, "Begin the fault"));
  }

  /** Offers these faults, once. */
  offer(possible) {
    if (this.possible.length) return;
    this.possible = possible;
    this.choice.replaceChildren(...possible.map(({ name, summary }) => element("option", { value: name }, capitalized(summary))));
    this.showNumber();
  }

  get chosen() { return this.possible.find(({ name }) => name === this.choice.value); }

  showNumber() {
    const number = this.chosen?.number;
    this.number.hidden = !number;
    if (!number) return;
    const [unit, factor] = unitOf(number);
    this.field.value = number.usual * factor;
    this.field.min = number.least * factor;
    this.field.max = number.most * factor;
    this.field.setAttribute("aria-label", `${capitalized(this.chosen.summary)}, ${unit}`);
    this.unit.textContent = unit;
  }

  /** The fault as the world reads it. */
  get text() {
    const number = this.chosen?.number;
    return number ? `${this.chosen.name}=${this.field.valueAsNumber / unitOf(number)[1]}` : this.choice.value;
  }
}
