import { element } from "./elements.js";

/** The shapes of the icons, in a square of 24. */
const SHAPES = {
  phone: "M8 2h8a2 2 0 0 1 2 2v16a2 2 0 0 1-2 2H8a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2zM11 18.5h2",
  heart: "M12 20C5 15 3 11.5 3 8.5A4.5 4.5 0 0 1 12 7a4.5 4.5 0 0 1 9 1.5c0 3-2 6.5-9 11.5z",
  thermometer: "M10 13V5a2 2 0 0 1 4 0v8a4.5 4.5 0 1 1-4 0zM12 9v8",
  lock: "M6 11h12v10H6zM8.5 11V7.5a3.5 3.5 0 0 1 7 0V11",
  battery: "M3 8h15v8H3zM21 11v2M6 11v2M9 11v2",
  beacon: "M12 12h.01M8 16a5.5 5.5 0 0 1 0-8M16 8a5.5 5.5 0 0 1 0 8M5 19a10 10 0 0 1 0-14M19 5a10 10 0 0 1 0 14",
  device: "M7 7h10v10H7zM10 3v4M14 3v4M10 17v4M14 17v4M3 10h4M3 14h4M17 10h4M17 14h4",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  all: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
};

/** The words in names and services that tell the kind of a device. */
const KINDS = [["heart", /heart|pulse|180d/i], ["thermometer", /thermo|temperature/i], ["lock", /lock/i],
  ["phone", /phone|tablet|watch/i], ["beacon", /beacon|find my|tile/i], ["battery", /battery|power/i]];

export function icon(name) {
  return element("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, element("path", { d: SHAPES[name] }));
}

/** The icon for a device, by its name and what it advertises. */
export function deviceIcon(...words) {
  const text = words.filter(Boolean).join(" ");
  return icon(KINDS.find(([, pattern]) => pattern.test(text))?.[0] ?? "device");
}
