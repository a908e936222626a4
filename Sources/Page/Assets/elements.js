// Elements without markup: names and values of devices are only ever text.

const SVG = "http://www.w3.org/2000/svg";
const SVG_NAMES = new Set(["svg", "rect", "title", "polyline", "line", "circle", "text"]);

/** Creates an element. Properties that begin with "on" are listeners; the others are attributes. */
export function element(name, properties = {}, ...children) {
  const made = SVG_NAMES.has(name) ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((each) => each !== undefined && each !== null).map((each) =>
    each instanceof Node ? each : document.createTextNode(String(each))));
  return made;
}

/** Replaces the children of an element, and keeps the focus where it was by the elements' ids. */
export function replace(parent, ...children) {
  const focused = parent.contains(document.activeElement) ? document.activeElement.id : "";
  const selection = focused && "selectionStart" in document.activeElement ? document.activeElement.selectionStart : null;
  parent.replaceChildren(...children);
  if (!focused) return;
  const again = document.getElementById(focused);
  if (!again) return;
  again.focus({ preventScroll: true });
  if (selection !== null && again.setSelectionRange) again.setSelectionRange(selection, selection);
}

/** The time of day of an event, with milliseconds. */
export function clock(seconds) {
  const date = new Date(seconds * 1000);
  const two = (number) => String(number).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.` +
    String(date.getMilliseconds()).padStart(3, "0");
}

/** A time of a world, such as 01:05.000, as in its story. */
export function worldClock(seconds) {
  const milliseconds = Math.floor(seconds * 1000 + 0.0005);
  const two = (number) => String(number).padStart(2, "0");
  const [minutes, hours] = [Math.floor(milliseconds / 60000), Math.floor(milliseconds / 3600000)];
  return `${hours ? `${hours}:` : ""}${two(minutes % 60)}:${two(Math.floor(milliseconds / 1000) % 60)}.` +
    String(milliseconds % 1000).padStart(3, "0");
}
