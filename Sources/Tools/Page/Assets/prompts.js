import { element, replace } from "./elements.js";

/** The milliseconds for which a prompt takes no answer if it appears just after another one has gone: a click that was
 * meant for the one must not answer the other (AB-S16). */
const SETTLING = 500;

/** An accessory that an app offers: its name, the image that the app shows, and what the accessory calls itself. */
function offered(offer) {
  const image = offer.image ? ` (image ${offer.image})` : "";
  const seen = offer.advertisedName ? `, which calls itself "${offer.advertisedName}"` : "";
  return `"${offer.name}"${image}${seen}${offer.isShared ? ", which another app uses too" : ""}`;
}

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
    const names = (prompt.offers ?? []).map(offered).join(", ");
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
      pick: [`Set up an accessory for ${app}`,
        prompt.offers?.length ? "Choose one." : "Looking for accessories…", [["refuse", "Cancel"]]],
      migrate: [`May ${app} manage these accessories?`, names, [["accept", "Allow"], ["refuse", "Cancel"]]],
      update: [`May ${app} use more of this accessory?`, names, [["accept", "Allow"], ["refuse", "Cancel"]]],
      rename: [`Which name does the accessory of ${app} get?`, names, [["refuse", "Cancel"]]],
      notice: [prompt.text, "", []],
    }[prompt.kind];
    const close = (answer, more = {}) => {
      if (answer && performance.now() - this.replaced < SETTLING) return;
      this.page.model.prompts.delete(key);
      if (answer) this.page.send({ verb: "answer", number: prompt.number, answer, ...more });
      this.show();
    };
    const buttons = answers.map(([answer, words], index) => element("button", {
      id: `answer-${key}-${answer}`, type: "button", class: index === 0 && answers.length > 1 ? "main" : null,
      onclick: () => close(answer),
    }, words));
    if (prompt.kind === "notice") {
      buttons.push(element("button", { id: `answer-${key}`, type: "button", onclick: () => close(null) }, "OK"));
    }
    if (prompt.kind === "pick") {
      buttons.unshift(...(prompt.offers ?? []).map((offer) => element("button", {
        id: `choose-${key}-${offer.identifier}`, type: "button",
        onclick: () => close("choose", { peer: offer.identifier }),
      }, offered(offer))));
    }
    if (prompt.kind === "rename") {
      buttons.unshift(
        element("input", { id: `name-${key}`, maxlength: 64, required: true, autocomplete: "off", "aria-label": "Name",
          value: prompt.offers?.[0]?.name ?? "" }),
        element("button", { id: `rename-${key}`, class: "main" }, "Rename"));
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
          if (prompt.kind === "rename") return code && close("name", { name: code });
          if (code && /^[0-9]{6}$/.test(code)) close(code);
        },
      }, ...field, ...buttons));
  }
}
