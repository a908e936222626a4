import { element } from "./elements.js";

// The part of the world that the map shows, in metres.
const WIDTH = 240;
const HEIGHT = 150;
const NEAR = 1;
const WIDE = 10;
const SENT_MILLISECONDS = 100;
// How long a device stays where it was put, until the world says where it is.
const HELD_MILLISECONDS = 1000;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** The map of a world: devices that can be dragged or moved by arrow keys, their link, walls, and the range. */
export class WorldMap {
  constructor(move) {
    this.move = move;
    this.held = new Map();
    this.things = new Map();
    this.unsent = new Map();
    this.sent = new Map();
  }

  open() {
    this.things.clear();
    this.lines = element("svg", { viewBox: `${-WIDTH / 2} ${-HEIGHT / 2} ${WIDTH} ${HEIGHT}`, "aria-hidden": true });
    this.area = element("div", { class: "map", role: "group", "aria-label": "Map; arrow keys move a device, with Shift ten times as far" },
      this.lines);
    return this.area;
  }

  show(world) {
    if (!world) return;
    this.world = world;
    for (const device of world.devices) {
      if (!this.things.has(device.key)) this.add(device);
      this.draw(device);
    }
    this.drawLines();
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

  draw(device) {
    const { x, y } = this.place(device);
    const thing = this.things.get(device.key);
    const inside = (share) => `${Math.min(1, Math.max(0, share)) * 100}%`;
    thing.style.left = inside(0.5 + x / WIDTH);
    thing.style.top = inside(0.5 - y / HEIGHT);
    const label = `${device.name} at ${x} m east, ${y} m north`;
    if (thing.getAttribute("aria-label") !== label) thing.setAttribute("aria-label", label);
  }

  drawLines() {
    const { world } = this;
    const [phone, sensor] = world.devices.map((device) => this.place(device));
    const grid = [];
    for (let x = -100; x <= 100; x += 50) grid.push([x, -HEIGHT / 2, x, HEIGHT / 2]);
    for (let y = -50; y <= 50; y += 50) grid.push([-WIDTH / 2, y, WIDTH / 2, y]);
    const state = world.isConnected ? "connected" : world.isInRange ? "heard" : "";
    this.lines.replaceChildren(
      ...grid.map(([x1, y1, x2, y2]) => element("line", { class: "grid", x1, y1, x2, y2 })),
      element("circle", { class: "range", cx: phone.x, cy: -phone.y, r: world.range }),
      ...world.walls.map((wall) => element("line", { class: "wall", x1: wall.x, y1: -wall.y, x2: wall.x2, y2: -wall.y2 })),
      ...(state ? [element("line", { class: `link ${state}`, x1: phone.x, y1: -phone.y, x2: sensor.x, y2: -sensor.y }),
        element("text", { x: (phone.x + sensor.x) / 2, y: -(phone.y + sensor.y) / 2 - 2 }, `${world.rssi} dBm`)] : []));
  }

  // MARK: Moves

  put(key, x, y, isDragged, isLast) {
    const tenths = (number, most) => Math.round(Math.min(most, Math.max(-most, number)) * 10) / 10;
    const place = { x: tenths(x, 1000), y: tenths(y, 1000), isDragged, time: performance.now() };
    this.held.set(key, place);
    this.draw(this.world.devices.find((device) => device.key === key));
    this.drawLines();
    clearTimeout(this.unsent.get(key));
    const send = () => {
      this.sent.set(key, performance.now());
      this.move(key, place.x, place.y);
    };
    const wait = isLast ? 0 : SENT_MILLISECONDS - (performance.now() - (this.sent.get(key) ?? -SENT_MILLISECONDS));
    if (wait <= 0) send(); else this.unsent.set(key, setTimeout(send, wait));
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
  }

  drag(event, key) {
    if (this.dragged === key) this.put(key, ...this.at(event), true, false);
  }

  drop(event, key) {
    if (this.dragged !== key) return;
    this.dragged = null;
    if (this.held.get(key)?.isDragged) this.put(key, ...this.at(event), false, true);
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
