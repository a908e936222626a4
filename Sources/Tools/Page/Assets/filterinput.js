import { element } from "./elements.js";
import { complete, FilterError, parse } from "./filter.js";

const LONGEST = 500;

/** A field for a filter: it offers what may come next, and says where a filter is wrong. The last right one stays in force. */
export class FilterInput {
  constructor({ offers, onChange }) {
    Object.assign(this, { offers, onChange });
    this.filter = parse("");
    this.source = "";
    this.active = -1;
  }

  open() {
    this.isOffering = false;
    this.input = element("input", {
      id: "packet-filter", type: "text", role: "combobox", "aria-label": "Filter packets", "aria-autocomplete": "list", "aria-expanded": "false",
      "aria-controls": "filter-offers", "aria-describedby": "filter-fault", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
      maxlength: LONGEST, placeholder: "Filter: att, handle == 0x0021, not advertising",
      oninput: () => this.typed(), onkeydown: (event) => this.press(event), onblur: () => this.close(),
      onclick: () => this.offer(),
    });
    this.input.value = this.source;
    this.clear = element("button", { id: "filter-clear", type: "button", "aria-label": "Clear the filter", title: "Clear the filter",
      onclick: () => { this.set(""); this.input.focus(); this.close(); } }, "×");
    this.list = element("ul", { id: "filter-offers", role: "listbox", "aria-label": "Completions", hidden: true,
      // The field keeps the focus.
      onmousedown: (event) => { event.preventDefault(); this.accept(Number(event.target.closest("li")?.dataset.index ?? -1)); } });
    this.fault = element("p", { id: "filter-fault", class: "tone bad", "aria-live": "polite", hidden: true });
    this.check();
    return element("div", { class: "filter" }, this.input, this.clear, this.list, this.fault);
  }

  /** Puts another filter into the field. */
  set(source) {
    this.source = this.input.value = source;
    this.check();
    this.onChange();
  }

  typed() {
    this.source = this.input.value;
    this.check();
    this.offer();
    if (!this.isWrong) this.onChange();
  }

  check() {
    this.isWrong = false;
    let words = "";
    try {
      this.filter = parse(this.source);
    } catch (error) {
      if (!(error instanceof FilterError)) throw error;
      this.isWrong = true;
      words = `Character ${error.from + 1}: ${error.message}`;
    }
    this.input.setAttribute("aria-invalid", `${this.isWrong}`);
    if (this.fault.textContent !== words) this.fault.textContent = words;
    this.showFault();
    this.clear.hidden = !this.source;
  }

  /** What is not finished is no fault while it is offered how to go on. */
  showFault() { this.fault.hidden = !this.isWrong || !this.list.hidden; }

  // MARK: Completion

  offer() {
    this.isOffering = true;
    this.showOffers(complete(this.input.value, this.input.selectionStart ?? 0, this.offers()));
  }

  /** Offers also what has become known since the last key. */
  refresh() {
    if (!this.isOffering) return;
    const { active, offered } = this;
    const now = complete(this.input.value, this.input.selectionStart ?? 0, this.offers());
    if (JSON.stringify(now) === JSON.stringify(offered)) return;
    this.showOffers(now);
    this.mark(now.items.findIndex(({ text }) => text === offered.items[active]?.text));
  }

  showOffers(offered) {
    this.offered = offered;
    this.mark(-1);
    this.list.replaceChildren(...this.offered.items.map(({ text, label, help }, index) =>
      element("li", { role: "option", id: `filter-offer-${index}`, "data-index": index, "aria-selected": "false" },
        element("span", {}, label ?? text), " ", element("span", { class: "quiet" }, help))));
    this.expand(this.offered.items.length > 0);
  }

  close() {
    this.isOffering = false;
    this.mark(-1);
    this.expand(false);
    this.list.replaceChildren();
  }

  expand(isOpen) {
    this.list.hidden = !isOpen;
    this.input.setAttribute("aria-expanded", `${isOpen}`);
    this.showFault();
  }

  mark(index) {
    this.list.children[this.active]?.setAttribute("aria-selected", "false");
    this.active = index;
    const item = this.list.children[index];
    item?.setAttribute("aria-selected", "true");
    item?.scrollIntoView({ block: "nearest" });
    if (item) this.input.setAttribute("aria-activedescendant", item.id);
    else this.input.removeAttribute("aria-activedescendant");
  }

  press(event) {
    const isOpen = !this.list.hidden;
    const { length } = this.list.children;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && !isOpen) this.offer();
    else if (step) this.mark((this.active + step + (this.active < 0 && step < 0 ? 1 : 0) + length) % length);
    else if (isOpen && this.active >= 0 && (event.key === "Enter" || event.key === "Tab")) this.accept(this.active);
    else if (this.isOffering && (event.key === "Escape" || event.key === "Enter")) this.close();
    else return;
    event.preventDefault();
  }

  /** Puts an item in place of what is typed, and offers what may follow. */
  accept(index) {
    const item = this.offered.items[index];
    if (!item) return;
    const { from, to } = this.offered;
    const { value } = this.input;
    const rest = value.slice(to);
    const after = rest.startsWith(" ") ? "" : " ";
    this.input.value = value.slice(0, from) + item.text + after + rest;
    const place = from + item.text.length + 1;
    this.input.setSelectionRange(place, place);
    this.typed();
  }
}
