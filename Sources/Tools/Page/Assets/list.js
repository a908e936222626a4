import { element } from "./elements.js";

const phone = matchMedia("(max-width: 600px)");
const BESIDE = 10;

/**
 * A long list whose rows have one height. Only those in sight are elements. A row is chosen by a click or the arrow keys.
 *
 * `row(item)` returns the text of a row or its columns, `kind` is a class of the rows, and `onChoose(item)` is called with the row that was chosen.
 */
export class LongList {
  constructor({ id, label, kind, row, onChoose, onFollow }) {
    Object.assign(this, { id, kind, row, onChoose, onFollow });
    this.items = [];
    this.chosen = null;
    this.follows = true;
    this.inside = element("div", { role: "presentation" });
    this.area = element("div", {
      class: "events", id, tabindex: 0, role: "listbox", "aria-label": label, onscroll: () => this.draw(),
      onwheel: () => this.onFollow(false), onkeydown: (event) => this.press(event),
      // A row that is drawn again while the button is down has no click. Those without a pointer have no button.
      onmousedown: (event) => { if (!event.button) this.click(event); },
      onclick: (event) => { if (!event.detail) this.click(event); },
    }, this.inside);
    new ResizeObserver(() => this.show()).observe(this.area);
  }

  /** The height of a row in pixels; on a phone it has three lines, as the style sheet says. */
  get height() { return phone.matches ? 60 : 24; }

  /** Puts others in place of the items. Those in sight stay where they are. */
  replace(items) {
    const top = Math.floor(this.area.scrollTop / this.height);
    const number = this.items[top]?.number ?? Infinity;
    this.items = items;
    if (this.follows) return;
    const place = items.findIndex((item) => item.number >= number);
    this.area.scrollTop += ((place < 0 ? items.length : place) - top) * this.height;
  }

  /** Keeps the last items, at most as many as this. */
  keep(count) {
    if (this.items.length > count + 2000) this.replace(this.items.slice(-count));
  }

  show() {
    this.inside.style.height = `${this.items.length * this.height}px`;
    if (this.follows) this.area.scrollTop = this.area.scrollHeight;
    this.draw();
  }

  draw() {
    const top = this.area.scrollTop;
    const first = Math.max(0, Math.floor(top / this.height) - BESIDE);
    const last = Math.min(this.items.length, Math.ceil((top + this.area.clientHeight) / this.height) + BESIDE);
    const rows = [];
    for (let index = first; index < last; index += 1) rows.push(this.made(index));
    this.inside.replaceChildren(...rows);
    const chosen = this.index();
    if (chosen >= first && chosen < last) this.area.setAttribute("aria-activedescendant", `${this.id}-${this.chosen.number}`);
    else this.area.removeAttribute("aria-activedescendant");
  }

  made(index) {
    const item = this.items[index];
    const row = element("div", {
      class: `event ${this.kind}`, role: "option", id: `${this.id}-${item.number}`, "aria-selected": item === this.chosen ? "true" : "false",
    }, this.row(item));
    row.style.top = `${index * this.height}px`;
    row.dataset.index = index;
    return row;
  }

  /** The place of the chosen item, or -1. */
  index() { return this.chosen === null ? -1 : this.items.indexOf(this.chosen); }

  click(event) {
    const row = event.target.closest(".event");
    if (row) this.choose(this.items[Number(row.dataset.index)]);
  }

  press(event) {
    const page = Math.max(1, Math.floor(this.area.clientHeight / this.height) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (!(event.key in steps) || !this.items.length) return;
    event.preventDefault();
    const from = this.index() < 0 ? this.items.length : this.index();
    const to = Math.min(this.items.length - 1, Math.max(0, from + steps[event.key]));
    this.choose(this.items[to]);
  }

  /** Chooses an item of the list, and scrolls to it. */
  choose(item) {
    this.onFollow(false);
    this.chosen = item;
    this.onChoose(item);
    this.reveal();
  }

  /** Scrolls to the chosen item, if it is not in sight. */
  reveal() {
    const place = this.index();
    const top = place * this.height;
    if (place >= 0 && (top < this.area.scrollTop || top + this.height > this.area.scrollTop + this.area.clientHeight)) {
      this.area.scrollTop = Math.max(0, top - this.area.clientHeight / 2);
    }
    this.draw();
  }
}

/** A view with a list of numbered items that come by themselves. A filter selects some, and one is shown in detail. */
export class ListView {
  constructor(page, name) {
    Object.assign(this, { page, name, follows: true, next: 0, source: null, wanted: null });
  }

  /** The address of the chosen item. */
  get chosenPlace() { return this.list.index() >= 0 ? `#${this.name}/${this.list.chosen.number}` : null; }

  followButton(id) {
    this.scroll = element("button", {
      id, "aria-pressed": `${this.follows}`, onclick: () => this.follow(!this.follows),
    }, "Keep at the end");
    return this.scroll;
  }

  follow(follows) {
    if (this.follows === follows) return;
    this.follows = follows;
    this.scroll.setAttribute("aria-pressed", `${follows}`);
    this.show();
  }

  /** Called with each new item, whether it fits or not. */
  learn() {}

  /** Lists the new items that fit; `first` is the number of those removed before. Another source begins anew. */
  take(source, items, first) {
    if (this.source !== source) {
      [this.source, this.next] = [source, first];
      this.list.items = [];
    }
    if (this.next < first) this.next = first;
    for (; this.next < first + items.length; this.next += 1) {
      const item = items[this.next - first];
      this.learn(item);
      if (this.fits(item)) this.list.items.push(item);
    }
    this.list.keep(items.length);
  }

  /** Draws the list, and chooses the item of the address once it is there. Returns whether it did. */
  showList() {
    this.list.follows = this.follows;
    this.list.show();
    const found = this.wanted === null ? null : this.list.items.find((item) => item.number === this.wanted);
    if (!found) return false;
    this.wanted = null;
    this.list.choose(found);
    return true;
  }
}
