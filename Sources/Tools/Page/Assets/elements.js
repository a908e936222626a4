// Elements without markup: names and values of devices are only ever text.

const SVG = "http://www.w3.org/2000/svg";
const SVG_NAMES = new Set(["svg", "rect", "title", "polyline", "line", "circle", "text", "path", "ellipse"]);

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

// A click needs one element from press to release: what holds the pressed one is replaced when it is released.
let pressed = null;
const held = new Map();

function release() {
  pressed = null;
  const all = [...held];
  held.clear();
  for (const [parent, children] of all) replace(parent, ...children);
}

document.addEventListener("pointerdown", (event) => { pressed = event.target; }, true);
document.addEventListener("keydown", (event) => { if (event.key === " ") pressed = event.target; }, true);
// The click comes after the release.
for (const name of ["pointerup", "pointercancel", "keyup", "change"]) document.addEventListener(name, () => setTimeout(release), true);
// The release over a menu of the browser is not reported.
document.addEventListener("pointermove", (event) => { if (pressed && !event.buttons) release(); }, true);

/** Replaces the children of an element, and keeps the focus where it was by the elements' ids. Waits until the mouse is up. */
export function replace(parent, ...children) {
  if (pressed && parent.contains(pressed)) return held.set(parent, children);
  held.delete(parent);
  const focused = parent.contains(document.activeElement) ? document.activeElement.id : "";
  const selection = focused && "selectionStart" in document.activeElement ? document.activeElement.selectionStart : null;
  parent.replaceChildren(...children);
  if (!focused) return;
  const again = document.getElementById(focused);
  if (!again) return;
  again.focus({ preventScroll: true });
  if (selection !== null && again.setSelectionRange) again.setSelectionRange(selection, selection);
}

/** Allows a button, or refuses it without taking the focus from it, and says why. */
export function allow(button, isAllowed, title) {
  if (button.getAttribute("aria-disabled") !== `${!isAllowed}`) button.setAttribute("aria-disabled", `${!isAllowed}`);
  if (button.title !== title) button.title = title;
}

// A refused button does nothing, whatever listens to it.
document.addEventListener("click", (event) => {
  if (event.target.closest?.("button[aria-disabled=true]")) event.stopImmediatePropagation();
}, true);

/** A number of things, such as "1 event". */
export function count(number, noun) { return `${number} ${noun}${number === 1 ? "" : "s"}`; }

const two = (number) => String(number).padStart(2, "0");
let beginning = null;

/** Lets clock() count from the time at which a world began, as its story does; null for the time of day. */
export function countFrom(seconds) { beginning = seconds; }

/** A duration as in the story of a world, such as 01:05.000. */
export function timer(milliseconds) {
  // Cut as in the story; the fraction is for times that are not exact in a number of JavaScript.
  const whole = Math.max(0, Math.floor(milliseconds + 0.0005));
  const minutes = Math.floor(whole / 60000);
  return `${minutes >= 60 ? `${Math.floor(minutes / 60)}:` : ""}${two(minutes % 60)}:${two(Math.floor(whole / 1000) % 60)}.` +
    String(whole % 1000).padStart(3, "0");
}

/** The seconds that clock() shows for a time: since midnight, or since the beginning of the world. */
export function shownSeconds(seconds) {
  if (beginning !== null) return seconds - beginning;
  return seconds - new Date(seconds * 1000).setHours(0, 0, 0, 0) / 1000;
}

/** The time of day of an event, or its time in the world, with milliseconds. */
export function clock(seconds) {
  if (beginning !== null) return timer((seconds - beginning) * 1000);
  const date = new Date(seconds * 1000);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.` +
    String(date.getMilliseconds()).padStart(3, "0");
}
