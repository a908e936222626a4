import { allow, element } from "./elements.js";

const RUNNING = ["foreground", "background", "suspended"];

/**
 * What can be done to an app: its name for the service and for a world, the phases in which it applies, and what it means.
 * A world has no permission to take away, and only a world crashes apps.
 */
const VERBS = [
  { words: "Launch", command: "launch", act: "open", phases: ["notRunning"], title: "The user opens the app." },
  { words: "Foreground", command: "foreground", act: "open", phases: ["background", "suspended"],
    title: "The user returns to the app." },
  { words: "Background", command: "background", act: "leave", phases: ["foreground"],
    title: "The user leaves the app. It runs for some seconds more, and is then suspended." },
  { words: "Suspend", command: "suspend", act: "suspend", phases: ["foreground", "background"],
    title: "The app stands still, without those seconds. Events of Bluetooth wake it." },
  { words: "Live Activity", command: "startLiveActivity", act: "startLiveActivity", phases: ["foreground"],
    title: "The app starts a Live Activity. In the background it then has the privileges of the foreground (iOS 26)." },
  { words: "End activity", command: "endLiveActivity", act: "endLiveActivity", needsActivity: true,
    title: "The Live Activity of the app ends, and with it the privileges." },
  { words: "Kill", act: "crash", phases: RUNNING,
    title: "The app crashes. What it waits for goes on, and it is launched again for an event." },
  { words: "End for memory", command: "terminate", act: "removeFromMemory", phases: RUNNING,
    title: "The system ends the app to free memory. What it waits for goes on, and it is launched again for an event." },
  { words: "Force quit", command: "forceQuit", act: "forceQuit", phases: RUNNING, endsKept: true,
    title: "The user swipes the app away. Nothing of it goes on until the user opens it again." },
  { words: "Deny Bluetooth", command: "revokePermission", title: "The user switches Bluetooth off for the app in the settings." },
  { words: "Ask again", command: "resetPermission", title: "Forgets the user's decision about Bluetooth, so that the app asks again." },
];

/** What each verb means, for those who cannot point at its button. */
export function verbsHelp(isInWorld) {
  return element("details", { class: "verbs-help" }, element("summary", {}, "What the buttons do"),
    element("dl", {}, ...VERBS.filter((verb) => (isInWorld ? verb.act : verb.command)).flatMap(({ words, title }) => [
      element("dt", {}, words), element("dd", {}, title)])));
}

const RUNS = { foreground: "it is in the foreground", background: "it is in the background", suspended: "it is suspended",
  notRunning: "it is not running" };

/** The buttons for an app, which are made once and allowed by its state. */
export class AppVerbs {
  /**
   * `isInWorld` selects the verbs, and `press(verb)` performs one. `id(verb)` and `name` tell buttons of several apps apart.
   */
  constructor({ isInWorld, id, name, press }) {
    this.buttons = VERBS.filter((verb) => (isInWorld ? verb.act : verb.command)).map((verb) => [verb, element("button", {
      id: id(verb), type: "button", title: verb.title, "aria-label": name ? `${verb.words}: ${name}` : null,
      onclick: () => press(verb),
    }, verb.words)]);
    this.row = element("div", { class: "verbs" }, ...this.buttons.map(([, button]) => button));
  }

  /**
   * Allows the verbs that apply: `canLaunch` tells whether the app can be launched, `isKept` whether it waits for events,
   * `hasActivity` whether it has a Live Activity.
   */
  show({ phase, canLaunch, isKept, hasActivity }) {
    for (const [verb, button] of this.buttons) {
      const fits = !verb.phases || verb.phases.includes(phase) || (verb.endsKept && isKept);
      const reason = !fits ? `Not now: ${RUNS[phase] ?? phase}.`
        : verb.needsActivity && !hasActivity ? "Not now: it has no Live Activity."
        : verb.command === "launch" && !canLaunch ? "Not now: only apps that are installed can be launched." : "";
      allow(button, !reason, reason ? `${verb.title} ${reason}` : verb.title);
    }
  }
}
