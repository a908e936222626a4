import { element } from "./elements.js";
import { placeLabels } from "./labels.js";

const MOST = 200;
const RINGS = [-40, -60, -80, -100];
const STRONGEST = -20;
const DECIBELS = 80;
const DOT = 5;
const MARGIN = 16;
const LONGEST_NAME = 20;

/** An angle for a device, always the same one. */
function angle(identifier) { return (parseInt(identifier.slice(0, 8), 16) || 0) % 360 / 180 * Math.PI; }

/** Devices around this one: the nearer to the middle, the stronger. The direction has no meaning. */
export class Rings {
  constructor() {
    this.lines = element("svg", { class: "lines", "aria-hidden": true });
    this.view = element("div", { class: "rings", role: "img" }, this.lines);
    this.labels = new Map();
  }

  /** Draws the strongest devices. The strongest have names, as far as there is room. */
  show(devices) {
    const [width, height] = [this.view.clientWidth, this.view.clientHeight];
    if (!width) return;
    const heard = devices.filter(({ rssi }) => rssi !== undefined).sort((one, other) => other.rssi - one.rssi).slice(0, MOST);
    this.view.setAttribute("aria-label", `${heard.length} devices by signal strength, the strongest in the middle`);
    // The rings are wider than high, as the picture is; only the order of the distances means something.
    const radius = (rssi) => Math.min(1, Math.max(0, (STRONGEST - rssi) / DECIBELS));
    const [across, down] = [width / 2 - MARGIN, height / 2 - MARGIN];
    const at = (share, turn) => ({ x: width / 2 + share * across * Math.cos(turn), y: height / 2 + share * down * Math.sin(turn) });
    const dots = heard.map((device) => ({ device, ...at(radius(device.rssi), angle(device.identifier)), radius: DOT }));
    const scales = RINGS.map((rssi) => ({ key: `scale ${rssi}`, kind: "label scale", words: `${rssi} dBm`, radius: 2, below: true, ...at(radius(rssi), -Math.PI / 2) }));
    this.lines.replaceChildren(
      ...RINGS.map((rssi) => element("ellipse", { class: "ring", cx: width / 2, cy: height / 2, rx: radius(rssi) * across, ry: radius(rssi) * down })),
      ...dots.map(({ device, x, y }) => element("circle", { class: `dot${device.isConnected ? " connected" : ""}`, cx: x, cy: y, r: DOT },
        element("title", {}, `${device.name ?? "no name"}, ${device.rssi} dBm`))));
    this.name([...scales, ...dots.filter(({ device }) => device.name).map(({ device, ...dot }) =>
      ({ key: device.identifier, kind: "label", words: device.name.slice(0, LONGEST_NAME), ...dot }))], dots, { width, height });
  }

  /** Sets the labels where there is room, and keeps their elements. */
  name(wanted, dots, area) {
    const known = this.labels;
    this.labels = new Map(wanted.map(({ key, kind }) => [key, known.get(key) ?? element("div", { class: kind, "aria-hidden": true })]));
    for (const [key, label] of known) if (!this.labels.has(key)) label.remove();
    for (const { key, words } of wanted) {
      const label = this.labels.get(key);
      if (label.textContent !== words) label.textContent = words;
      if (!label.isConnected) this.view.append(label);
    }
    const sized = wanted.map((each) => {
      const { offsetWidth, offsetHeight } = this.labels.get(each.key);
      return { ...each, width: offsetWidth, height: offsetHeight };
    });
    const places = placeLabels(sized, { ...area, lines: [], marks: dots.map(({ x, y }) => ({ x, y, width: 2 * DOT, height: 2 * DOT })) });
    sized.forEach(({ key }, index) => {
      const [label, place] = [this.labels.get(key), places[index]];
      label.style.visibility = place ? "visible" : "hidden";
      if (place) [label.style.left, label.style.top] = [`${place.x}px`, `${place.y}px`];
    });
  }
}
