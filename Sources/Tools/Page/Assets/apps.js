import { allow, element, replace } from "./elements.js";
import { ofApp, sums } from "./energy.js";
import { AppVerbs, verbsHelp } from "./verbs.js";

const PERMISSIONS = {
  allowedAlways: "allowed", denied: "denied", restricted: "restricted", notDetermined: "not decided yet",
};
const KINDS = { appExtension: "app extension", iOSAppOnMac: "iPad app on a Mac" };
const STRIP_SECONDS = 300;
const MOST_NAME = 64;
const ACCESSORIES_OF_WORLD = "In a world, only its own apps and its person change accessories.";
const NAMES = { foreground: "in the foreground", background: "in the background", suspended: "suspended",
  notRunning: "not running" };

/** The apps: what each holds, its life in the last five minutes, and what can be done to it. */
export class Apps {
  constructor(page) {
    this.page = page;
    this.parts = ["apps", "status", "energy", "clock"];
  }

  open(view) {
    this.cards = new Map();
    this.list = element("div");
    this.none = element("p", { class: "quiet" }, "No app uses Bluetooth.");
    this.sums = element("div");
    view.replaceChildren(this.legend(), verbsHelp(Boolean(this.page.model.world)), this.sums, this.none, this.list);
    this.show();
  }

  /** Draws what changes, but keeps the buttons: one may be pressed right now. */
  show() {
    const apps = this.all();
    this.none.hidden = apps.length > 0;
    replace(this.sums, ...[sums(this.page.model.energy)].filter(Boolean));
    const keys = new Set(apps.map((app) => app.key));
    for (const [key, card] of this.cards) {
      if (keys.has(key)) continue;
      card.article.remove();
      this.cards.delete(key);
    }
    apps.forEach((app, index) => {
      if (!this.cards.has(app.key)) this.cards.set(app.key, this.card(app));
      const card = this.cards.get(app.key);
      if (this.list.children[index] !== card.article) this.list.insertBefore(card.article, this.list.children[index] ?? null);
      this.fill(card, app);
    });
  }

  legend() {
    return element("p", { class: "legend quiet" }, ...[...Object.entries(NAMES), ["launched", "launched for an event"]]
      .map(([name, words]) => element("span", {}, element("span", { class: `key ${name}`, "aria-hidden": "true" }), words)));
  }

  /** The apps that run, those that are kept, have run or have accessories, and those that can be launched. */
  all() {
    const { status, installed, seenApps, energy, accessories } = this.page.model;
    const found = new Map((status?.apps ?? []).map((app) => [`${app.name}/${app.owner}`, app]));
    for (const each of status?.preserved ?? []) {
      const key = `${each.app}/${each.owner}`;
      if (!found.has(key)) found.set(key, { name: each.app, owner: each.owner, kept: each });
    }
    for (const [key, app] of seenApps) if (!found.has(key)) found.set(key, app);
    for (const { app: name, owner } of accessories) {
      if (!found.has(`${name}/${owner}`)) found.set(`${name}/${owner}`, { name, owner });
    }
    const names = new Set([...found.values()].map((app) => app.name));
    for (const name of [...installed, ...(energy?.apps ?? []).map(({ app }) => app)]) {
      if (!names.has(name)) found.set(name, { name });
    }
    return [...found].map(([key, app]) => ({ ...app, key })).sort((first, second) => (first.key < second.key ? -1 : 1));
  }

  card({ key, name }) {
    const { world } = this.page.model;
    const card = { title: element("h2"), facts: element("div", { class: "quiet small facts" }), life: element("div"),
      charge: element("div"), holds: element("div"), accessories: element("ul", { class: "accessories" }), rows: new Map() };
    card.verbs = new AppVerbs({
      isInWorld: Boolean(world), name, id: (verb) => `${verb.command ?? verb.act}-${key}`,
      press: (verb) => this.page.send(world ? { verb: "world", act: "app", text: verb.act }
        : { verb: "app", name, owner: card.owner, command: verb.command }),
    });
    card.article = element("article", { class: "app" }, card.title, card.facts, card.verbs.row, card.life, card.charge,
      card.holds, card.accessories);
    return card;
  }

  /** The accessories that an app has set up. A row stays while its accessory does: its name may be edited right now. */
  fillAccessories(card, app) {
    const all = this.page.model.accessories.filter((each) => each.app === app.name && each.owner === app.owner);
    for (const [key, { row }] of card.rows) {
      if (all.some(({ identifier }) => identifier === key)) continue;
      row.remove();
      card.rows.delete(key);
    }
    for (const accessory of all) {
      if (!card.rows.has(accessory.identifier)) {
        card.rows.set(accessory.identifier, this.accessory(accessory));
        card.accessories.append(card.rows.get(accessory.identifier).row);
      }
      card.rows.get(accessory.identifier).show(accessory);
    }
    card.accessories.hidden = !all.length;
  }

  /** The row of an accessory: its name and state, and what the user does with it in the settings. */
  accessory({ app: name, owner, identifier }) {
    const send = (command, value) => this.page.send({ verb: "accessory", name, owner, peer: identifier, command, value });
    const words = element("span", {});
    const field = element("input", { id: `accessory-${name}-${owner}-${identifier}`, maxlength: MOST_NAME, required: true, autocomplete: "off", size: 16 });
    const [rename, remove] = [element("button", {}, "Rename"),
      element("button", { type: "button", onclick: () => send("remove") }, "Remove")];
    const row = element("li", {}, words, " ", element("form", {
      class: "verbs",
      onsubmit: (event) => {
        event.preventDefault();
        if (rename.getAttribute("aria-disabled") === "false" && field.value.trim()) send("rename", field.value);
      },
    }, field, rename, remove));
    const isInWorld = Boolean(this.page.model.world);
    let last = null;
    const show = (accessory) => {
      if (accessory.name === last?.name && accessory.state === last?.state) return;
      if (field.value === (last?.name ?? "")) field.value = accessory.name;
      words.textContent = `accessory "${accessory.name}"${accessory.state === "authorized" ? "" : ", which awaits its authorization"}`;
      const labels = [[field, "New name of"], [rename, "Rename"], [remove, "Remove"]];
      for (const [each, label] of labels) each.setAttribute("aria-label", `${label} ${accessory.name}: ${name}`);
      allow(rename, !isInWorld, isInWorld ? ACCESSORIES_OF_WORLD : "The user renames the accessory in the settings.");
      allow(remove, !isInWorld, isInWorld ? ACCESSORIES_OF_WORLD
        : "The user removes the accessory from the app. Its bond ends with the last app that has it.");
      last = accessory;
    };
    return { row, show };
  }

  fill(card, app) {
    const phase = app.phase ?? "notRunning";
    const isRunning = phase !== "notRunning";
    card.owner = app.owner;
    card.title.replaceChildren(app.displayName ?? app.name, " ", element("span", {
      class: `tag ${{ foreground: "good", background: "accent", suspended: "warn" }[phase] ?? ""}`,
    }, isRunning ? phase : "not running"));
    card.article.classList.toggle("ended", !isRunning);
    card.facts.textContent = [app.displayName ? app.name : null, app.owner ? `user ${app.owner}` : null,
      app.permission ? `Bluetooth ${PERMISSIONS[app.permission] ?? app.permission}` : null,
      KINDS[app.kind] ?? null,
      app.hasLiveActivity ? "with a Live Activity" : null,
      app.kept ? "kept for restoration" : null].filter(Boolean).join(", ");
    replace(card.life, this.strip(app, phase), this.axis());
    replace(card.charge, ...[ofApp(this.page.model.energy, app.name, (peer) => this.page.nameOf(peer))].filter(Boolean));
    const holds = this.holds(app);
    replace(card.holds, ...(holds.length ? [element("ul", {}, ...holds.map((each) => element("li", {}, each)))] : []));
    this.fillAccessories(card, app);
    const { world, installed } = this.page.model;
    card.verbs.show({ phase, isKept: Boolean(app.kept), hasActivity: Boolean(app.hasLiveActivity),
      canLaunch: Boolean(world || app.kept || installed.includes(app.name)) });
  }

  holds(app) {
    const status = this.page.model.status;
    const isOf = (each) => (each.app ?? each.name) === app.name && (each.owner ?? app.owner) === app.owner;
    return [
      ...(status?.scans ?? []).filter(isOf).map((scan) =>
        `scans for ${scan.services.length ? scan.services.join(", ") : "everything"}${scan.isActive ? "" : " (waits)"}`),
      ...(status?.advertising ?? []).filter(isOf).map((each) =>
        `advertises ${[each.localName, ...each.services].filter(Boolean).join(", ")} (${each.shown})`),
      ...(status?.links ?? []).filter((link) => link.apps.includes(app.name)).map((link) =>
        `is connected to ${link.name ?? link.peer}`),
      ...this.waits(app.kept),
    ];
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

  /** The times below a strip, whose name tells them too. */
  axis() {
    return element("div", { class: "axis quiet", "aria-hidden": "true" },
      ...["5 min ago", "4", "3", "2", "1", "now"].map((each) => element("span", {}, each)));
  }

  /** The phases of an app with their beginnings: in a world all of them, else those since this page is open. */
  changes({ key }) {
    const { world, lives, phases, now } = this.page.model;
    if (!world) return phases.get(key) ?? [];
    const at = (time) => world.start + time / 1000;
    return lives.filter(({ row, start }) => row === "apps" && at(start) <= now).flatMap(({ start, end, text }) =>
      [{ time: at(start), phase: text }, ...(end === undefined || at(end) > now ? [] : [{ time: at(end), phase: "notRunning" }])]);
  }

  strip(app, phase) {
    const { now, since } = this.page.model;
    const start = Math.max(since, now - STRIP_SECONDS);
    const changes = this.changes(app);
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
