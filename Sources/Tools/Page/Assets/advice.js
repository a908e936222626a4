import { count, element, replace } from "./elements.js";
import { charge, ranking, sums } from "./energy.js";

// The name by which the service knows this page and the other commands of the tool.
const TOOL = "harald";

/** The advice for apps. Scans of the page itself, which a person asked for, are not an app's. */
export function adviceForApps(model) { return [...model.advice.values()].filter(({ app }) => app !== TOOL); }

/** What apps could do better and what they cost the battery, as the advisor and the ledger report it. */
export class AdviceList {
  constructor(page) {
    this.page = page;
    this.parts = ["advice", "energy"];
  }

  open(view) {
    this.list = element("div");
    view.replaceChildren(this.list);
    this.show();
  }

  show() {
    replace(this.list, ...this.advice(), this.energy());
  }

  advice() {
    const { advice, refusals } = this.page.model;
    const refusal = refusals.get("advice");
    if (refusal) return [element("p", { class: "quiet" }, refusal)];
    const shown = adviceForApps(this.page.model);
    const own = advice.size - shown.length;
    const rest = own ? [element("p", { class: "quiet", id: "own-advice" },
      `Not shown: ${count(own, "line")} about this page and other commands of ${TOOL}; see "${TOOL} advice".`)] : [];
    if (!shown.length) {
      return [element("p", { class: "quiet" }, "No app has broken a good practice so far. Checked: scans for everything or " +
        "without end, polling, connections and subscriptions without use, writes without room, state restoration, and time in " +
        "the background, among others."), ...rest];
    }
    return [...shown.map((each) => element("article", { class: "app" },
      element("h2", {}, `${each.app} ${each.found}`, each.count > 1 ? ` (${each.count} times)` : ""),
      element("p", {}, each.instead),
      each.cost ? element("p", { class: "charge" }, cost(each.cost)) : null,
      element("div", { class: "quiet" }, `Rule ${each.rule} of Documentation/Behaviours.md${each.hint ? ", a hint only" : ""}`))),
      ...rest];
  }

  energy() {
    const { energy, status } = this.page.model;
    if (!energy) {
      return element("p", { class: "quiet" }, status ? "This service does not follow what apps cost the battery: start it with --energy." : "");
    }
    return element("section", { "aria-label": "Energy" }, element("h2", {}, "What the apps cost the battery"),
      sums(energy), element("ul", { class: "card" }, ...ranking(energy, (peer) => this.page.nameOf(peer))));
  }
}

/** The cost of the cause of an advice, as a sentence. */
function cost({ use, microampereHours, sendingSeconds, listeningSeconds, isEstimate }) {
  const subject = use.charAt(0).toUpperCase() + use.slice(1);
  const seconds = (sendingSeconds + listeningSeconds).toFixed(1);
  return `${subject} cost ${charge(microampereHours)}${seconds === "0.0" ? "" : `, with the radio on for ${seconds} s`}` +
    `${isEstimate ? " (an estimate)" : ""}.`;
}
