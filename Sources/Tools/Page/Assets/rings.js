import { element } from "./elements.js";

const MOST = 40;
const RINGS = [-40, -60, -80, -100];
const STRONGEST = -20;
const DECIBELS = 80;
const RADIUS = 100;

/** The radius for a signal strength in dBm. */
function radius(rssi) { return Math.min(1, Math.max(0, (STRONGEST - rssi) / DECIBELS)) * RADIUS; }

/** An angle for a device, always the same one. */
function angle(identifier) { return (parseInt(identifier.slice(0, 8), 16) || 0) % 360 / 180 * Math.PI; }

/** Devices around this one: the nearer to the middle, the stronger. The direction has no meaning. */
export function rings(devices) {
  const heard = devices.filter(({ rssi }) => rssi !== undefined).sort((one, other) => other.rssi - one.rssi).slice(0, MOST);
  return element("svg", { class: "rings", viewBox: "-130 -106 260 212", role: "img",
    "aria-label": `${heard.length} devices by signal strength, the strongest in the middle` },
    ...RINGS.flatMap((rssi) => [
      element("circle", { class: "ring", cx: 0, cy: 0, r: radius(rssi) }),
      element("text", { class: "scale", x: 0, y: radius(rssi) - 1 }, `${rssi} dBm`),
    ]),
    ...heard.flatMap((device) => {
      const [distance, direction] = [radius(device.rssi), angle(device.identifier)];
      const [x, y] = [distance * Math.cos(direction), distance * Math.sin(direction)];
      return [
        element("circle", { class: `dot${device.isConnected ? " connected" : ""}`, cx: x, cy: y, r: 3 },
          element("title", {}, `${device.name ?? "no name"}, ${device.rssi} dBm`)),
        element("text", { x, y: y - 5 }, (device.name ?? "no name").slice(0, 20)),
      ];
    }));
}
