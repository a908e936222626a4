import { element } from "./elements.js";

// The part of the world that the map shows, in metres.
const WIDTH = 240;
const HEIGHT = 150;
const NEAR = 1;
const WIDE = 10;
// The distances of labels from the edge, beside each other and above each other, in pixels; the radius of a dot, in metres.
const MARGIN = 3;
const GAP = 4;
const STACK = 12;
const SPOT = 1.5;
const SENT_MILLISECONDS = 100;
// A drag is sent once in this time of the world, because a saved test repeats all of it.
const DRAGGED_MILLISECONDS = 1000;
// How long a device stays where it was put, until the world says where it is.
const HELD_MILLISECONDS = 2000;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** The map of a world: devices that can be dragged or moved by arrow keys, their link, walls, and the range. */
export class WorldMap {
  constructor(move) {
    this.move = move;
    this.held = new Map();
    this.things = new Map();
    this.unsent = new Map();
    this.sent = new Map();
    this.sizes = new ResizeObserver(() => this.draw());
  }

  open() {
    this.things.clear();
    this.strength = element("span", { class: "strength", "aria-hidden": true, hidden: true });
    this.lines = element("svg", { viewBox: `${-WIDTH / 2} ${-HEIGHT / 2} ${WIDTH} ${HEIGHT}`, "aria-hidden": true });
    this.area = element("div", { class: "map", role: "group", "aria-label": "Map; arrow keys move a device, with Shift ten times as far" },
      this.lines, this.strength);
    this.sizes.disconnect();
    this.sizes.observe(this.area);
    return this.area;
  }

  show(world) {
    if (!world) return;
    this.world = world;
    for (const device of world.devices) if (!this.things.has(device.key)) this.add(device);
    this.draw();
  }

  add({ key, name }) {
    const thing = element("button", { id: `thing-${key}`, class: "thing", type: "button",
      onpointerdown: (event) => this.grasp(event, key), onpointermove: (event) => this.drag(event, key),
      onpointerup: (event) => this.drop(event, key), onpointercancel: (event) => this.drop(event, key),
      onkeydown: (event) => this.press(event, key) }, name);
    this.things.set(key, thing);
    this.area.append(thing);
  }

  /** Where a device is, or where it was put a moment ago. */
  place(device) {
    const held = this.held.get(device.key);
    if (!held) return device;
    if (!held.isDragged && performance.now() - held.time > HELD_MILLISECONDS) this.held.delete(device.key);
    return held;
  }

  /** Where a device is in the picture, in its pixels. One beyond the edge is at the edge. */
  point(device) {
    const { x, y } = this.place(device);
    const [width, height] = [this.area.clientWidth, this.area.clientHeight];
    const inside = (share, size) => Math.min(1, Math.max(0, share)) * size;
    return { x: inside(0.5 + x / WIDTH, width), y: inside(0.5 - y / HEIGHT, height) };
  }

  draw() {
    // Without a size, nothing is in sight.
    if (!this.world || !this.area.clientWidth) return;
    const boxes = this.world.devices.map((device) => {
      const { x, y } = this.place(device);
      const thing = this.things.get(device.key);
      const label = `${device.name} at ${x} m east, ${y} m north`;
      if (thing.getAttribute("aria-label") !== label) thing.setAttribute("aria-label", label);
      return { thing, at: this.point(device), width: thing.offsetWidth, height: thing.offsetHeight };
    });
    this.arrange(boxes);
    for (const { thing, x, y } of boxes) {
      thing.style.left = `${x}px`;
      thing.style.top = `${y}px`;
    }
    this.drawLines(boxes);
  }

  /** Sets the middle of each label: at its device, but within the picture, and beside the other label. */
  arrange(boxes) {
    const [width, height] = [this.area.clientWidth, this.area.clientHeight];
    const within = (box) => {
      box.x = Math.min(width - box.width / 2 - MARGIN, Math.max(box.width / 2 + MARGIN, box.x));
      box.y = Math.min(height - box.height / 2 - MARGIN, Math.max(box.height / 2 + MARGIN, box.y));
    };
    for (const box of boxes) {
      [box.x, box.y] = [box.at.x, box.at.y];
      within(box);
    }
    const [one, other] = boxes;
    if (!other) return;
    const [across, touching] = [(one.width + other.width) / 2 + GAP, (one.height + other.height) / 2 + GAP];
    if (Math.abs(one.x - other.x) >= across || Math.abs(one.y - other.y) >= touching) return;
    const along = touching - GAP + STACK;
    // The labels are wide, so one goes above the other.
    const [upper, lower] = one.y <= other.y ? [one, other] : [other, one];
    const missing = along - (lower.y - upper.y);
    upper.y -= missing / 2;
    lower.y += missing / 2;
    within(upper);
    within(lower);
    // At an edge, the other label gives way.
    if (lower.y - upper.y < along) lower.y = upper.y + along;
    if (lower.y + lower.height / 2 + MARGIN > height) [lower.y, upper.y] = [height - lower.height / 2 - MARGIN, height - lower.height / 2 - MARGIN - along];
  }

  drawLines(boxes) {
    const { world } = this;
    const [width, height] = [this.area.clientWidth, this.area.clientHeight];
    const [phone, sensor] = world.devices.map((device) => this.place(device));
    const grid = [];
    for (let x = -100; x <= 100; x += 50) grid.push([x, -HEIGHT / 2, x, HEIGHT / 2]);
    for (let y = -50; y <= 50; y += 50) grid.push([-WIDTH / 2, y, WIDTH / 2, y]);
    const state = world.isConnected ? "connected" : world.isInRange ? "heard" : "";
    const metres = ({ x, y }) => [(x / width - 0.5) * WIDTH, (y / height - 0.5) * HEIGHT];
    // A label that is not at its device has a dot there, and a line to it.
    const leaders = boxes.filter(({ x, y, at }) => Math.hypot(x - at.x, y - at.y) > 1).flatMap((box) => {
      const [[x1, y1], [x2, y2]] = [metres(box.at), metres(box)];
      return [element("line", { class: "leader", x1, y1, x2, y2 }), element("circle", { class: "spot", cx: x1, cy: y1, r: SPOT })];
    });
    this.lines.replaceChildren(
      ...grid.map(([x1, y1, x2, y2]) => element("line", { class: "grid", x1, y1, x2, y2 })),
      element("circle", { class: "range", cx: phone.x, cy: -phone.y, r: world.range }),
      ...world.walls.map((wall) => element("line", { class: "wall", x1: wall.x, y1: -wall.y, x2: wall.x2, y2: -wall.y2 })),
      ...(state ? [element("line", { class: `link ${state}`, x1: phone.x, y1: -phone.y, x2: sensor.x, y2: -sensor.y })] : []),
      ...leaders);
    this.strength.hidden = !state;
    if (!state) return;
    this.strength.textContent = `${world.rssi} dBm`;
    this.placeStrength(boxes);
  }

  /** Sets the signal strength in the middle of the link; above or below the labels if they are there. */
  placeStrength(boxes) {
    const [width, height] = [this.area.clientWidth, this.area.clientHeight];
    const size = { width: this.strength.offsetWidth, height: this.strength.offsetHeight };
    const [one, other] = boxes;
    const x = Math.min(width - size.width / 2 - MARGIN, Math.max(size.width / 2 + MARGIN, (one.at.x + other.at.x) / 2));
    const edge = (sign) => (sign < 0 ? Math.min : Math.max)(...boxes.map((box) => box.y + sign * box.height / 2)) + sign * (size.height / 2 + GAP);
    const isFree = (y) => y > size.height / 2 && y < height - size.height / 2 && boxes.every((box) =>
      Math.abs(box.x - x) >= (box.width + size.width) / 2 + GAP || Math.abs(box.y - y) >= (box.height + size.height) / 2 + 1);
    const y = [(one.at.y + other.at.y) / 2, edge(-1), edge(1)].find(isFree) ?? edge(1);
    this.strength.style.left = `${x}px`;
    this.strength.style.top = `${y}px`;
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

  at(event) {
    const area = this.area.getBoundingClientRect();
    return [
      ((event.clientX - area.left) / area.width - 0.5) * WIDTH,
      (0.5 - (event.clientY - area.top) / area.height) * HEIGHT,
    ];
  }

  grasp(event, key) {
    if (event.button) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    this.dragged = key;
    // A label may be beside its device. One beyond the edge comes to the pointer.
    const { x, y } = this.place(this.world.devices.find((device) => device.key === key));
    const at = this.at(event);
    const isInside = Math.abs(x) <= WIDTH / 2 && Math.abs(y) <= HEIGHT / 2;
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
