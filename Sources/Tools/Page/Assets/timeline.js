import { element, timer } from "./elements.js";

// The steps of the page keys, in milliseconds.
const PAGE = 10000;
const ROWS = { apps: "App", links: "Link", scans: "Scans", alerts: "Alerts" };
const TONES = { foreground: "good", background: "accent", suspended: "warn" };
const ROW_TONES = { links: "good", scans: "air", alerts: "bad" };

/** The time of a world: the lives of apps, links and scans, the alerts, and a handle for each instant that the world has been at. */
export class Timeline {
  /** `goTo(milliseconds)` asks for an instant, and `lines()` returns the times of the story's lines, in milliseconds. */
  constructor(goTo, lines) { Object.assign(this, { goTo, lines, world: null, wasLeaping: false }); }

  open() {
    /** The instant that the user wants, and the one that was asked for last. */
    [this.wanted, this.asked] = [null, null];
    this.drawn = null;
    this.strip = element("svg", { class: "lives", preserveAspectRatio: "none", role: "img" });
    this.handle = element("input", { id: "world-instant", type: "range", min: 0, step: 1, "aria-label": "Instant of the world",
      oninput: () => this.want(this.handle.valueAsNumber), onkeydown: (event) => this.press(event) });
    this.note = element("p", { id: "world-past", class: "warn small", role: "status" });
    return element("section", { class: "timeline", "aria-label": "Time line" },
      element("div", { class: "names", "aria-hidden": "true" }, ...Object.values(ROWS).map((name) => element("span", {}, name))),
      element("div", { class: "band" }, this.strip, this.handle), this.note);
  }

  press(event) {
    const now = this.wanted ?? this.world?.milliseconds;
    if (now === undefined) return;
    const last = this.world.lastMilliseconds;
    const times = {
      ArrowLeft: () => this.lines().findLast((time) => time < now) ?? 0,
      ArrowRight: () => this.lines().find((time) => time > now) ?? Math.min(last, now + 1000),
      PageDown: () => now - PAGE, PageUp: () => now + PAGE, Home: () => 0, End: () => last,
    };
    const time = times[event.key === "ArrowDown" ? "ArrowLeft" : event.key === "ArrowUp" ? "ArrowRight" : event.key];
    if (!time) return;
    event.preventDefault();
    this.want(time());
  }

  want(milliseconds) {
    this.wanted = Math.round(Math.min(this.world?.lastMilliseconds ?? 0, Math.max(0, milliseconds)));
    this.handle.value = this.wanted;
    this.ask();
  }

  /** Asks for the wanted instant, one at a time: while the handle is dragged, the last one counts. */
  ask() {
    if (this.wanted === null || this.asked !== null) return;
    this.asked = this.wanted;
    this.goTo(this.asked);
  }

  /** Shows the time of a world with its lives. `isLeaping` tells whether it is on its way to an instant. */
  show(world, isLeaping, lives) {
    const isOther = this.world !== null && this.world.generation !== world.generation;
    const isOver = world.milliseconds === this.asked || this.wasLeaping || isOther;
    [this.world, this.wasLeaping] = [world, isLeaping];
    if (this.asked !== null && !isLeaping && isOver) {
      // An instant that another person has made unknown is not asked for again.
      if (this.wanted === this.asked || this.wanted > world.lastMilliseconds) this.wanted = null;
      this.asked = null;
      this.ask();
    }
    const { milliseconds, lastMilliseconds, actsAhead } = world;
    this.handle.max = lastMilliseconds;
    const shown = this.wanted ?? milliseconds;
    if (this.handle.valueAsNumber !== shown) this.handle.value = shown;
    this.handle.setAttribute("aria-valuetext", timer(shown));
    const text = isLeaping ? `Going to ${timer(world.target ?? shown)} …` : milliseconds < lastMilliseconds
      ? `The past: up to ${timer(lastMilliseconds)}, ${actsAhead === 1 ? "1 act is" : `${actsAhead || "no"} acts are`} repeated. What you do here discards what followed.` : "";
    if (this.note.textContent !== text) this.note.textContent = text;
    this.draw(lives, lastMilliseconds);
  }

  /** Draws the lives as lines from 0 to the last instant. Those that go on are drawn up to it. */
  draw(lives, last) {
    const width = Math.max(1, last);
    this.strip.setAttribute("viewBox", `0 0 ${width} ${Object.keys(ROWS).length}`);
    if (this.drawn !== lives) {
      this.drawn = lives;
      const names = Object.keys(ROWS);
      this.marks = lives.map((life) => {
        const y = names.indexOf(life.row) + 0.5;
        return element("line", { class: `life ${life.row} ${TONES[life.text] ?? ROW_TONES[life.row] ?? ""}`, x1: life.start, x2: life.end ?? life.start,
          y1: y, y2: y }, element("title", {}, `${timer(life.start)} ${life.text}`));
      });
      this.strip.replaceChildren(...this.marks);
      const counts = names.map((row) => `${ROWS[row].toLowerCase()} ${lives.filter((life) => life.row === row).length}`);
      this.strip.setAttribute("aria-label", `Lives so far: ${counts.join(", ")}`);
    }
    lives.forEach((life, index) => { if (life.end === undefined) this.marks[index].setAttribute("x2", width); });
  }
}
