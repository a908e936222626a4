// What apps cost the battery, as the ledger reports it.

import { element } from "./elements.js";

/** The words for a use, before the name of its device. Others are shown by the name in the ledger. */
const USES = { link: "link to", linkControl: "link control," };

/** The words for a use without a device. */
function use(name) { return name === "linkControl" ? "link control" : name; }

/** A number with three significant digits, as the tool shows it. */
function digits(value) {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 4);
}

function large(value, unit, thousands) {
  return Math.abs(value) < 1000 ? `${digits(value)} ${unit}` : `${digits(value / 1000)} ${thousands}`;
}

/** A charge for the user. */
export function charge(microampereHours) { return large(microampereHours, "µAh", "mAh"); }

/** A current for the user. */
export function current(microamperes) { return large(microamperes, "µA", "mA"); }

/** The average current of a part of the ledger. */
function average(energy, microampereHours) {
  return energy.elapsedSeconds > 0 ? `, ${current(microampereHours * 3600 / energy.elapsedSeconds)} on average so far` : "";
}

/** Charges as bars, the longest for the largest of them; each has a name, a charge, and a class. */
function meter(rows, most = Math.max(...rows.map(([, value]) => value))) {
  return element("div", { class: "meter" }, ...rows.flatMap(([name, value, kind]) => [
    element("span", {}, `${name} `),
    element("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true", class: kind ?? null },
      element("rect", { width: most > 0 ? value / most * 100 : 0, height: 10 })),
    element("span", {}, `${charge(value)} `),
  ]));
}

/** The sums of the ledger, or nothing if there is none. */
export function sums(energy) {
  if (!energy) return null;
  const { microampereHours, systemMicroampereHours, otherAppsMicroampereHours, sleepMicroampereHours } = energy;
  const own = energy.apps.map(({ app, microampereHours: value }) => [app, value]);
  const parts = [...own, ["the system", systemMicroampereHours, "rest"], ["apps that are not listed", otherAppsMicroampereHours, "rest"],
    ["sleep", sleepMicroampereHours, "rest"]].filter(([, value]) => value > 0);
  return element("div", { class: "card", id: "energy" },
    element("p", { class: "quiet small" }, `Energy, ${energy.isEstimate ? "an estimate" : "exact"}, with the currents of ${energy.profile}: ` +
      `${charge(microampereHours)} in ${energy.elapsedSeconds} s${average(energy, microampereHours)}.`),
    parts.length ? meter(parts) : null);
}

/** The charge of an app with its largest uses, or nothing if it has none. */
export function ofApp(energy, name, nameOf) {
  const app = energy?.apps.find((each) => each.app === name);
  if (!app) return null;
  const uses = app.uses.filter((each) => each.microampereHours > 0).map((each) =>
    [each.peer ? `${USES[each.use] ?? `${each.use},`} ${nameOf(each.peer)}` : use(each.use), each.microampereHours]);
  return element("div", { class: "charge" },
    element("strong", {}, charge(app.microampereHours)), `${average(energy, app.microampereHours)}${energy.isEstimate ? " (an estimate)" : ""}`,
    uses.length ? ": " : null, uses.length ? meter(uses, app.microampereHours) : null);
}

/** What the apps have spent on a device, or nothing. */
export function ofPeer(energy, peer) {
  const uses = (energy?.apps ?? []).flatMap(({ app, uses: all }) =>
    all.filter((each) => each.peer === peer && each.microampereHours > 0).map((each) => [`${app}: ${use(each.use)}`, each.microampereHours]));
  if (!uses.length) return null;
  const total = uses.reduce((sum, [, value]) => sum + value, 0);
  return element("div", { id: "device-charge", class: "small" },
    `Apps have spent ${charge(total)} on it${energy.isEstimate ? " (an estimate)" : ""}: `, meter(uses, total));
}

/** All apps by their charge, the largest first. */
export function ranking(energy, nameOf) {
  return [...energy.apps].sort((one, other) => other.microampereHours - one.microampereHours)
    .map(({ app }) => element("li", {}, `${app}: `, ofApp(energy, app, nameOf)));
}
