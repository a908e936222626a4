import { element } from "./elements.js";
import { deviceIcon, icon } from "./icons.js";
import { placeLabels } from "./labels.js";

// The part of the world that the map shows at first, in metres, and the distance of its lines.
const WIDTH = 240;
const HEIGHT = 150;
const GRID = 50;
const NEAR = 1;
const WIDE = 10;
// Marks in pixels: their radius, the smaller one of many, and their distance from the edge. Labels have a second line up to FEW.
const RADIUS = 20;
const SMALL = 8;
const FEW = 8;
const EDGE = 24;
const ZOOMS = [0.15, 20];
const STEP = 1.4;
const SENT_MILLISECONDS = 100;
// A drag is sent once in this time of the world, because a saved test repeats all of it.
const DRAGGED_MILLISECONDS = 1000;
// How long a device stays where it was put, until the world says where it is.
const HELD_MILLISECONDS = 2000;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/**
 * The map of a world: devices that can be dragged or moved by arrow keys, their states, the link of the first two, walls, and
 * the range of the first. It can be moved and zoomed.
 */
export class WorldMap {
  constructor(move) {
    this.move = move;
    this.held = new Map();
    this.things = new Map();
    this.unsent = new Map();
    this.sent = new Map();
    this.view = { x: 0, y: 0, zoom: 1 };
    this.sizes = new ResizeObserver(() => this.draw());
  }

  open() {
    this.things.clear();
    this.strength = element("div", { class: "label strength", "aria-hidden": true, hidden: true });
    this.reach = element("div", { class: "label scale", "aria-hidden": true });
    this.ruler = element("div", { class: "label scale", "aria-hidden": true });
    this.note = element("div", { class: "note" }, "Time stands still at the beginning: press Run");
    this.lines = element("svg", { class: "lines", "aria-hidden": true });
    const button = (id, shape, label, press) =>
      element("button", { id, type: "button", "aria-label": label, title: label, onclick: press }, icon(shape));
    this.zoom = element("div", { class: "zoom" },
      button("map-closer", "plus", "Zoom in", () => this.zoomBy(STEP)),
      button("map-wider", "minus", "Zoom out", () => this.zoomBy(1 / STEP)),
      button("map-all", "all", "Show all devices", () => this.showAll()));
    this.area = element("div", { class: "map", role: "group",
      "aria-label": "Map; arrow keys move a device, with Shift ten times as far",
      onpointerdown: (event) => this.beginPan(event), onpointermove: (event) => this.pan(event),
      onpointerup: () => { this.panned = null; }, onpointercancel: () => { this.panned = null; },
      onwheel: (event) => this.wheel(event) },
      this.lines, this.strength, this.reach, this.ruler, this.note, this.zoom);
    this.sizes.disconnect();
    this.sizes.observe(this.area);
    return this.area;
  }

  show(world) {
    if (!world) return;
    this.world = world;
    for (const device of world.devices) if (!this.things.has(device.key)) this.add(device);
    this.area.classList.toggle("running", Boolean(world.isRunning));
    this.note.hidden = Boolean(world.isRunning || world.milliseconds);
    this.draw();
  }

  add({ key, name, advertised }) {
    const mark = element("button", { id: `thing-${key}`, class: "thing", type: "button",
      onpointerdown: (event) => this.grasp(event, key), onpointermove: (event) => this.drag(event, key),
      onpointerup: (event) => this.drop(event, key), onpointercancel: (event) => this.drop(event, key),
      onkeydown: (event) => this.press(event, key) }, deviceIcon(name, ...(advertised ?? [])));
    const state = element("span", { class: "state" });
    const label = element("div", { class: "label", "aria-hidden": true }, name, state);
    this.things.set(key, { mark, state, label });
    this.zoom.before(label, mark);
  }

  /** Where a device is, or where it was put a moment ago. */
  place(device) {
    const held = this.held.get(device.key);
    if (!held) return device;
    if (!held.isDragged && performance.now() - held.time > HELD_MILLISECONDS) this.held.delete(device.key);
    return held;
  }

  // MARK: The view

  /** The pixels of a metre. */
  get scale() { return Math.min(this.area.clientWidth / WIDTH, this.area.clientHeight / HEIGHT) * this.view.zoom; }

  /** The point of a place, in pixels of the picture. */
  point({ x, y }) {
    const { scale, view, area } = this;
    return { x: area.clientWidth / 2 + (x - view.x) * scale, y: area.clientHeight / 2 - (y - view.y) * scale };
  }

  /** The place under the pointer. */
  at(event) {
    const { scale, view, area } = this;
    const { left, top } = area.getBoundingClientRect();
    return [view.x + (event.clientX - left - area.clientLeft - area.clientWidth / 2) / scale,
      view.y - (event.clientY - top - area.clientTop - area.clientHeight / 2) / scale];
  }

  /** Zooms about a place, which stays where it is; without one, about the middle. */
  zoomBy(factor, [x, y] = [this.view.x, this.view.y]) {
    const zoom = Math.min(ZOOMS[1], Math.max(ZOOMS[0], this.view.zoom * factor));
    const left = this.view.zoom / zoom;
    this.look({ x: x + (this.view.x - x) * left, y: y + (this.view.y - y) * left, zoom });
  }

  look(view) {
    this.view = view;
    const { x, y, zoom } = view;
    this.area.classList.toggle("zoomed", zoom > 1 || x !== 0 || y !== 0);
    this.draw();
  }

  /** Shows the first part of the world, or as much more as the devices need. */
  showAll() {
    const places = (this.world?.devices ?? []).map((device) => this.place(device));
    const isInside = places.every(({ x, y }) => Math.abs(x) < WIDTH / 2 && Math.abs(y) < HEIGHT / 2);
    if (isInside) return this.look({ x: 0, y: 0, zoom: 1 });
    const [xs, ys] = [places.map(({ x }) => x), places.map(({ y }) => y)];
    const span = (all) => Math.max(...all) - Math.min(...all);
    const middle = (all) => (Math.max(...all) + Math.min(...all)) / 2;
    const zoom = Math.min(WIDTH / (span(xs) * 1.2 + 10), HEIGHT / (span(ys) * 1.2 + 10), 1);
    this.look({ x: middle(xs), y: middle(ys), zoom: Math.max(ZOOMS[0], zoom) });
  }

  wheel(event) {
    // Without a modifier the wheel scrolls the page; a pinch on a touchpad has one.
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.zoomBy(Math.exp(-event.deltaY / 200), this.at(event));
  }

  beginPan(event) {
    const isTouch = event.pointerType === "touch" && !this.area.classList.contains("zoomed");
    if (event.button || isTouch || event.target.closest("button")) return;
    this.area.setPointerCapture(event.pointerId);
    this.panned = this.at(event);
  }

  pan(event) {
    if (!this.panned) return;
    const [x, y] = this.at(event);
    this.look({ ...this.view, x: this.view.x + this.panned[0] - x, y: this.view.y + this.panned[1] - y });
  }

  // MARK: The picture

  draw() {
    // Without a size, nothing is in sight.
    if (!this.world || !this.area.clientWidth) return;
    const { devices } = this.world;
    const isSmall = devices.length > FEW;
    const marks = devices.map((device) => this.mark(device, isSmall));
    if (!isSmall) this.part(marks);
    for (const { mark, at } of marks) {
      mark.style.left = `${at.x}px`;
      mark.style.top = `${at.y}px`;
    }
    this.drawLines(marks);
    this.placeLabels(marks);
  }

  /** Shows the state of a device by its mark, and returns where the mark goes: at the device, or at the edge. */
  mark(device, isSmall) {
    const { x, y } = this.place(device);
    const { mark, state, label } = this.things.get(device.key);
    const name = `${device.name} at ${x} m east, ${y} m north`;
    if (mark.getAttribute("aria-label") !== name) mark.setAttribute("aria-label", name);
    if (mark.getAttribute("aria-description") !== (device.words ?? "")) mark.setAttribute("aria-description", device.words ?? "");
    const shape = `thing ${device.state ?? ""} ${device.mark ?? ""}${device.isAdvertising ? " advertising" : ""}${isSmall ? " small" : ""}`;
    if (mark.className !== shape) mark.className = shape;
    if (state.textContent !== (device.words ?? "")) state.textContent = device.words ?? "";
    state.className = `state ${device.tone ?? ""}`;
    state.hidden = isSmall || !device.words;
    const exact = this.point({ x, y });
    const inside = (value, size) => Math.min(size - EDGE, Math.max(EDGE, value));
    const at = { x: inside(exact.x, this.area.clientWidth), y: inside(exact.y, this.area.clientHeight) };
    return { device, mark, label, exact, at, radius: isSmall ? SMALL : RADIUS };
  }

  /** Moves the first two marks apart if one hides the other. */
  part([one, other]) {
    if (!other) return;
    let [across, down] = [other.at.x - one.at.x, other.at.y - one.at.y];
    const distance = Math.hypot(across, down);
    const missing = 2 * RADIUS + 4 - distance;
    if (missing <= 0) return;
    [across, down] = distance ? [across / distance, down / distance] : [1, 0];
    const inside = (value, size) => Math.min(size - EDGE, Math.max(EDGE, value));
    const push = (mark, pixels) => {
      mark.at = { x: inside(mark.at.x + across * pixels, this.area.clientWidth),
        y: inside(mark.at.y + down * pixels, this.area.clientHeight) };
    };
    push(one, -missing / 2);
    push(other, missing / 2);
    // At an edge, the other mark gives way; in a corner, along the edge.
    const left = 2 * RADIUS + 4 - Math.hypot(other.at.x - one.at.x, other.at.y - one.at.y);
    if (left <= 0) return;
    push(one, -left);
    push(other, left);
    if (Math.hypot(other.at.x - one.at.x, other.at.y - one.at.y) < 2 * RADIUS) {
      one.at = { ...other.at, x: other.at.x + (other.at.x > this.area.clientWidth / 2 ? -1 : 1) * (2 * RADIUS + 4) };
    }
  }

  drawLines(marks) {
    const { world, scale } = this;
    const [phone, other] = marks;
    const [width, height] = [this.area.clientWidth, this.area.clientHeight];
    const line = (name, one, two) => element("line", { class: name, x1: one.x, y1: one.y, x2: two.x, y2: two.y });
    const walls = (world.walls ?? []).map((wall) => line("wall", this.point(wall), this.point({ x: wall.x2, y: wall.y2 })));
    this.link = other && (world.isConnected || world.isInRange)
      ? { x1: phone.at.x, y1: phone.at.y, x2: other.at.x, y2: other.at.y } : null;
    // A mark that is not at its device has a dot there, and a line to it.
    const leaders = marks.filter(({ exact, at }) => Math.hypot(exact.x - at.x, exact.y - at.y) > 1).flatMap(({ exact, at }) =>
      [line("leader", exact, at), element("circle", { class: "spot", cx: exact.x, cy: exact.y, r: 4 })]);
    const metres = this.rulerMetres();
    const ruler = { x: 12, y: height - 12 };
    this.lines.replaceChildren(...this.grid(width, height),
      ...(world.range ? [element("circle", { class: "range", cx: phone.exact.x, cy: phone.exact.y, r: world.range * scale })] : []),
      ...walls,
      ...(this.link ? [line(`link${world.isConnected ? " connected" : ""}`, phone.at, other.at)] : []),
      ...leaders, line("scale", ruler, { x: ruler.x + metres * scale, y: ruler.y }));
    this.ruler.textContent = `${metres} m`;
    this.ruler.style.left = `${ruler.x + metres * scale + this.ruler.offsetWidth / 2 + 6}px`;
    this.ruler.style.top = `${ruler.y}px`;
  }

  /** A round number of metres, of some hundred pixels. */
  rulerMetres() {
    const about = 100 / this.scale;
    const power = 10 ** Math.floor(Math.log10(about));
    return [5, 2, 1].map((each) => each * power).find((each) => each <= about) ?? power;
  }

  grid(width, height) {
    const { scale, view } = this;
    const metres = GRID * Math.max(1, 2 ** Math.ceil(Math.log2(24 / (GRID * scale))));
    const lines = [];
    const first = (middle, size) => Math.ceil((middle - size / scale / 2) / metres) * metres;
    for (let x = first(view.x, width); (x - view.x) * scale < width / 2; x += metres) {
      const at = this.point({ x, y: 0 }).x;
      lines.push([at, 0, at, height]);
    }
    for (let y = first(view.y, height); (y - view.y) * scale < height / 2; y += metres) {
      const at = this.point({ x: 0, y }).y;
      lines.push([0, at, width, at]);
    }
    return lines.map(([x1, y1, x2, y2]) => element("line", { class: "grid", x1, y1, x2, y2 }));
  }

  placeLabels(marks) {
    const { world, area } = this;
    const [width, height] = [area.clientWidth, area.clientHeight];
    const size = (each) => ({ width: each.offsetWidth, height: each.offsetHeight });
    this.strength.hidden = !this.link;
    if (this.link) this.strength.textContent = world.linkWords ?? `${world.rssi} dBm`;
    this.reach.textContent = world.range ? `range ${world.range} m` : "";
    const few = marks.length <= FEW;
    const wanted = marks.map(({ label, at, radius }) => ({ label, ...at, radius, ...size(label), needed: few }));
    if (this.link) {
      const { x1, y1, x2, y2 } = this.link;
      wanted.push({ label: this.strength, x: (x1 + x2) / 2, y: (y1 + y2) / 2, radius: 2, ...size(this.strength), needed: true });
    }
    if (world.range) {
      const { x, y } = marks[0].exact;
      wanted.push({ label: this.reach, x, y: y + world.range * this.scale, radius: 4, below: true, ...size(this.reach) });
    }
    const fixed = [this.ruler, this.zoom, ...(this.note.hidden ? [] : [this.note])].map((each) => {
      const [box, frame] = [each.getBoundingClientRect(), area.getBoundingClientRect()];
      return { x: box.x + box.width / 2 - frame.x, y: box.y + box.height / 2 - frame.y, width: box.width, height: box.height };
    });
    const found = placeLabels(wanted, { width, height, lines: this.link ? [this.link] : [],
      marks: [...fixed, ...marks.map(({ at, radius }) => ({ ...at, width: 2 * radius, height: 2 * radius }))] });
    wanted.forEach(({ label }, index) => {
      const box = found[index];
      label.style.visibility = box ? "visible" : "hidden";
      if (!box) return;
      label.style.left = `${box.x}px`;
      label.style.top = `${box.y}px`;
    });
  }

  // MARK: Moves

  put(key, x, y, isDragged, isLast) {
    const tenths = (number, most) => Math.round(Math.min(most, Math.max(-most, number)) * 10) / 10;
    const place = { x: tenths(x, 1000), y: tenths(y, 1000), isDragged, time: performance.now() };
    this.held.set(key, place);
    this.draw();
    clearTimeout(this.unsent.get(key));
    const send = () => {
      this.sent.set(key, performance.now());
      this.move(key, place.x, place.y);
    };
    const wait = isLast ? 0 : this.pause(isDragged) - (performance.now() - (this.sent.get(key) ?? -Infinity));
    if (wait <= 0) send(); else if (wait < Infinity) this.unsent.set(key, setTimeout(send, wait));
  }

  /** The time between two moves. While time stands still, only the place where a device is dropped counts. */
  pause(isDragged) {
    if (!isDragged) return SENT_MILLISECONDS;
    const { isRunning, speed } = this.world;
    return isRunning ? Math.min(DRAGGED_MILLISECONDS, Math.max(SENT_MILLISECONDS, DRAGGED_MILLISECONDS / speed)) : Infinity;
  }

  grasp(event, key) {
    if (event.button) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    this.dragged = key;
    const device = this.world.devices.find((each) => each.key === key);
    const [at, { x, y }, exact] = [this.at(event), this.place(device), this.point(this.place(device))];
    // One beyond the edge comes to the pointer.
    const isInside = exact.x >= 0 && exact.y >= 0 && exact.x <= this.area.clientWidth && exact.y <= this.area.clientHeight;
    this.offset = isInside ? [x - at[0], y - at[1]] : [0, 0];
  }

  /** The place of the device that is dragged. */
  target(event) { return this.at(event).map((each, axis) => each + this.offset[axis]); }

  drag(event, key) {
    if (this.dragged === key) this.put(key, ...this.target(event), true, false);
  }

  drop(event, key) {
    if (this.dragged !== key) return;
    this.dragged = null;
    if (this.held.get(key)?.isDragged) this.put(key, ...this.target(event), false, true);
  }

  press(event, key) {
    const arrow = ARROWS[event.key];
    if (!arrow || !this.world) return;
    event.preventDefault();
    const { x, y } = this.place(this.world.devices.find((device) => device.key === key));
    const metres = event.shiftKey ? WIDE : NEAR;
    this.put(key, x + arrow[0] * metres, y + arrow[1] * metres, false, false);
  }
}
