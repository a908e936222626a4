import { element, replace } from "./elements.js";

/** The milliseconds for which a prompt takes no answer if it appears just after another one has gone: a click that was
 * meant for the one must not answer the other (AB-S16). */
const SETTLING = 500;

/** Questions of the system to the person at the screen. They are on top of every view. */
export class Prompts {
  constructor(page, place) {
    this.page = page;
    this.place = place;
    this.parts = ["prompts"];
    this.keys = [];
    this.gone = this.replaced = -Infinity;
  }

  show() {
    const keys = [...this.page.model.prompts.keys()];
    const now = performance.now();
    if (this.keys.some((key) => !keys.includes(key))) this.gone = now;
    if (keys.some((key) => !this.keys.includes(key)) && now - this.gone < SETTLING) this.replaced = now;
    this.keys = keys;
    replace(this.place, ...[...this.page.model.prompts].map(([key, prompt]) => this.prompt(key, prompt)));
  }

  prompt(key, prompt) {
    const who = prompt.peerName ? `"${prompt.peerName}" (${prompt.peerAddress})` : prompt.peerAddress;
    const app = prompt.displayName ? `"${prompt.displayName}" (${prompt.app})` : prompt.app;
    const origin = prompt.asking ? `Pair with ${who}, as ${prompt.asking}` : `${who} wants to pair`;
    const [title, more, answers] = {
      confirm: [origin, "Pair? The identity of the device cannot be verified.", [["accept", "Pair"], ["refuse", "Cancel"]]],
      confirmReplacement: [origin, "Pair again? The device could not prove that it is the one that was paired before.",
        [["accept", "Pair"], ["refuse", "Cancel"]]],
      showPasskey: [origin, "Enter this code on the device.", [["refuse", "Cancel"]]],
      enterPasskey: [origin, "Enter the code that the device shows. If it asks for a code instead, cancel.",
        [["refuse", "Cancel"]]],
      enterPasskeyOnBoth: [origin, "Make up six digits, and enter them here and on the device. Do not enter a code that " +
        "any device shows. If the device shows one, cancel.", [["refuse", "Cancel"]]],
      compare: [origin, "Does the device show this number?", [["accept", "Yes, pair"], ["refuse", "No"]]],
      permission: [`May ${app} use Bluetooth?`,
        [prompt.usage, prompt.executable ? `It runs ${prompt.executable} as user ${prompt.owner}.` : ""].filter(Boolean).join(" "),
        [["allow", "Allow"], ["deny", "Don't allow"]]],
      notice: [prompt.text, "", []],
    }[prompt.kind];
    const close = (answer) => {
      if (answer && performance.now() - this.replaced < SETTLING) return;
      this.page.model.prompts.delete(key);
      if (answer) this.page.send({ verb: "answer", number: prompt.number, answer });
      this.show();
    };
    const buttons = answers.map(([answer, words], index) => element("button", {
      id: `answer-${key}-${answer}`, type: "button", class: index === 0 && answers.length > 1 ? "main" : null,
      onclick: () => close(answer),
    }, words));
    if (prompt.kind === "notice") {
      buttons.push(element("button", { id: `answer-${key}`, type: "button", onclick: () => close(null) }, "OK"));
    }
    const field = !prompt.kind.startsWith("enterPasskey") ? [] : [
      element("input", { id: `code-${key}`, inputmode: "numeric", pattern: "[0-9]{6}", maxlength: 6, required: true,
        autocomplete: "off", "aria-label": "Code" }),
      element("button", { id: `enter-${key}`, class: "main" }, "Pair"),
    ];
    return element("article", { class: "prompt" },
      element("h2", {}, prompt.isInBackground ? `For an app in the background: ${title}` : title),
      more ? element("p", {}, more) : null,
      prompt.code ? element("p", { class: "passkey" }, prompt.code) : null,
      element("form", {
        onsubmit: (event) => {
          event.preventDefault();
          const code = event.target.querySelector("input")?.value;
          if (code && /^[0-9]{6}$/.test(code)) close(code);
        },
      }, ...field, ...buttons));
  }
}
