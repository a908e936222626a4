import { element, replace } from "./elements.js";
import { ofApp, sums } from "./energy.js";

const VERBS = [
  ["launch", "Launch"], ["foreground", "Foreground"], ["background", "Background"], ["suspend", "Suspend"],
  ["terminate", "End for memory"], ["forceQuit", "Force quit"], ["revokePermission", "Deny Bluetooth"],
  ["resetPermission", "Ask again"],
];
const PERMISSIONS = {
  allowedAlways: "allowed", denied: "denied", restricted: "restricted", notDetermined: "not decided yet",
};
const STRIP_SECONDS = 300;
const NAMES = { foreground: "in the foreground", background: "in the background", suspended: "suspended",
  notRunning: "not running" };

/** The apps: what each holds, its life in the last five minutes, and what can be done to it. */
export class Apps {
  constructor(page) {
    this.page = page;
    this.parts = ["apps", "status", "energy", "clock"];
  }

  open(view) {
    this.list = element("div");
    view.replaceChildren(this.list);
    this.show();
  }

  show() {
    const apps = this.all();
    replace(this.list, this.legend(), ...[sums(this.page.model.energy)].filter(Boolean), ...(apps.length ? apps.map((app) => this.card(app))
      : [element("p", { class: "quiet" }, "No app uses Bluetooth.")]));
  }

  legend() {
    return element("p", { class: "legend quiet" }, ...[...Object.entries(NAMES), ["launched", "launched for an event"]]
      .map(([name, words]) => element("span", {}, element("span", { class: `key ${name}`, "aria-hidden": "true" }), words)));
  }

  /** The apps that run, those that are kept, and those that can be launched. */
  all() {
    const { status, installed, energy } = this.page.model;
    const found = new Map((status?.apps ?? []).map((app) => [`${app.name}/${app.owner}`, app]));
    for (const each of status?.preserved ?? []) {
      const key = `${each.app}/${each.owner}`;
      if (!found.has(key)) found.set(key, { name: each.app, owner: each.owner, kept: each });
    }
    const names = new Set([...found.values()].map((app) => app.name));
    for (const name of [...installed, ...(energy?.apps ?? []).map(({ app }) => app)]) {
      if (!names.has(name)) found.set(name, { name });
    }
    return [...found].map(([key, app]) => ({ ...app, key })).sort((first, second) => (first.key < second.key ? -1 : 1));
  }

  card(app) {
    const status = this.page.model.status;
    const isOf = (each) => (each.app ?? each.name) === app.name && (each.owner ?? app.owner) === app.owner;
    const holds = [
      ...(status?.scans ?? []).filter(isOf).map((scan) =>
        `scans for ${scan.services.length ? scan.services.join(", ") : "everything"}${scan.isActive ? "" : " (waits)"}`),
      ...(status?.advertising ?? []).filter(isOf).map((each) =>
        `advertises ${[each.localName, ...each.services].filter(Boolean).join(", ")} (${each.shown})`),
      ...(status?.links ?? []).filter((link) => link.apps.includes(app.name)).map((link) =>
        `is connected to ${link.name ?? link.peer}`),
      ...this.waits(app.kept),
    ];
    const phase = app.phase ?? "notRunning";
    return element("article", { class: "app" },
      element("h2", {}, app.displayName ?? app.name, " ", element("span", {
        class: `tag ${phase === "foreground" ? "good" : phase === "suspended" ? "warn" : ""}`,
      }, phase === "notRunning" ? "not running" : phase)),
      element("div", { class: "quiet" }, [app.name, app.owner === undefined ? null : `user ${app.owner}`,
        app.permission ? `Bluetooth ${PERMISSIONS[app.permission] ?? app.permission}` : null,
        app.kept ? "kept for restoration" : null].filter(Boolean).join(", ")),
      this.strip(app, phase),
      ofApp(this.page.model.energy, app.name, (peer) => this.page.nameOf(peer)),
      holds.length ? element("ul", {}, ...holds.map((each) => element("li", {}, each))) : null,
      element("div", { class: "verbs" }, ...VERBS.map(([command, words]) => element("button", {
        id: `${command}-${app.key}`, "aria-label": `${words}: ${app.name}`,
        onclick: () => this.page.send({ verb: "app", name: app.name, owner: app.owner, command }),
      }, words))));
  }

  /** What waits for an app that does not run. */
  waits(kept) {
    if (!kept) return [];
    const managers = [...kept.centrals.map((each) => `central ${each}`), ...kept.peripherals.map((each) => `peripheral ${each}`)];
    return [
      managers.length ? `is launched for events of ${managers.join(", ")}` : null,
      kept.earlyEnds ? `ended early ${kept.earlyEnds} times in a row` : null,
      kept.launchPauseSeconds ? `may be launched again in ${Math.ceil(kept.launchPauseSeconds)} s` : null,
    ].filter(Boolean);
  }

  strip(app, phase) {
    const now = Date.now() / 1000;
    const start = Math.max(this.page.model.begin, now - STRIP_SECONDS);
    const changes = this.page.model.phases.get(app.key) ?? [];
    const width = (from, to) => Math.max(0, (to - Math.max(from, start)) / STRIP_SECONDS * 1000);
    const parts = [];
    let from = start;
    let current = changes.length ? null : phase;
    for (const change of changes) {
      if (current) parts.push([current, from, change.time]);
      [current, from] = [change.phase, change.time];
    }
    parts.push([current, from, now]);
    const place = (time) => 1000 - (now - time) / STRIP_SECONDS * 1000;
    const launches = (this.page.model.launches.get(app.key) ?? []).filter((time) => time > start);
    return element("svg", {
      class: "strip", viewBox: "0 0 1000 22", preserveAspectRatio: "none", role: "img",
      "aria-label": `The life of ${app.name} in the last five minutes; now ${NAMES[phase] ?? phase}` +
        (launches.length ? `; launched ${launches.length === 1 ? "once" : `${launches.length} times`}` : ""),
    }, ...parts.filter(([, , to]) => to > start).map(([name, begin, end]) => element("rect", {
      class: name, x: place(Math.max(begin, start)), y: 0, height: 22, width: width(begin, end),
    }, element("title", {}, NAMES[name] ?? name))), ...launches.map((time) => element("rect", {
      class: "launched", x: place(time) - 2, y: 0, height: 22, width: 4,
    }, element("title", {}, "launched to receive an event"))));
  }
}
