import { element, replace } from "./elements.js";

/** What apps could do better, as the advisor reports it. */
export class AdviceList {
  constructor(page) {
    this.page = page;
    this.parts = ["advice"];
  }

  open(view) {
    this.list = element("div");
    view.replaceChildren(this.list);
    this.show();
  }

  show() {
    const { advice, refusals } = this.page.model;
    const refusal = refusals.get("advice");
    if (refusal) return replace(this.list, element("p", { class: "quiet" }, refusal));
    if (!advice.size) {
      return replace(this.list, element("p", { class: "quiet" }, "No app has broken a good practice since this page was opened."));
    }
    return replace(this.list, ...[...advice.values()].map((each) => element("article", { class: "app" },
      element("h2", {}, `${each.app} ${each.found}`, each.count > 1 ? ` (${each.count} times)` : ""),
      element("p", {}, each.instead),
      element("div", { class: "quiet" }, `Rule ${each.rule}${each.hint ? ", a hint only" : ""}`))));
  }
}
