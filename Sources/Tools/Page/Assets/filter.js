import { shownSeconds } from "./elements.js";

// The language of filters: fields, comparisons, "and", "or", "not" and parentheses. Any other word is searched in the text of a packet.

// A link consists of such PDUs mostly.
const EMPTY = "Empty PDU";
const FLOW = /^(Host )?Number Of Completed Packets/;
const ADVERTISING = /^(received with errors: )?(ADV_|AUX_|SCAN_)|^LE (Extended )?Advertising Report/;
const FAILED = /^Error Response|^Data: Error Response|Command Reject|malformed|received with errors|[Pp]airing ?[Ff]ailed|^Disconnection Complete|Status: (?!success)|LL_REJECT/;
// A handle of a connection has another name, "Connection_Handle".
const HANDLE = /\bHandle(?: In Error)?: (0x[0-9a-f]+|\d+)/gi;
const MOST_ITEMS = 12;
const DEEPEST = 50;

const layer = (name, help) => ({ kind: "flag", help, read: (packet) => packet.layer === name });
const flag = (help, read) => ({ kind: "flag", help, read });
const number = (help, example, read) => ({ kind: "number", help, example, read });
const text = (help, example, read) => ({ kind: "text", help, example, read });

/** What filters can name. `read` returns whether a flag is set, and of other fields all values that a packet has. */
const FIELDS = {
  hci: layer("hci", "commands and events of the controller"),
  l2cap: layer("l2cap", "channels and signalling"),
  att: layer("att", "attributes"),
  smp: layer("smp", "pairing"),
  air: layer("air", "packets on the air"),
  advertising: flag("advertisements, scan requests and their reports", (packet) => ADVERTISING.test(packet.text)),
  error: flag("failures, rejections and broken packets", (packet) => FAILED.test(packet.text)),
  sent: flag("from this device", (packet) => !packet.isReceived),
  received: flag("to this device", (packet) => packet.isReceived),
  empty: flag("PDUs without payload on the air", (packet) => packet.layer === "air" && packet.text === EMPTY),
  flow: flag("Number Of Completed Packets", (packet) => packet.layer === "hci" && FLOW.test(packet.text)),
  device: text("name or identifier of the other device", '"Heart Rate"', (packet, nameOf) => packet.peer ? [nameOf(packet.peer), packet.peer] : []),
  app: text("the app that caused it, or that it is for", '"watch"', (packet) => packet.app ? [packet.app] : []),
  handle: number("attribute handle", "0x0021", (packet) => [...packet.text.matchAll(HANDLE)].map(([, value]) => Number(value))),
  rssi: number("signal strength in dBm", "-80", ({ rssi }) => rssi === null || rssi === undefined ? [] : [rssi]),
  time: number("as the list shows it, or in seconds", "3.2", (packet) => [shownSeconds(packet.time)]),
  latency: number("of an answer, in milliseconds", "100", ({ latency }) => latency === undefined ? [] : [latency * 1000]),
};

const COMPARISONS = {
  "==": (one, other) => one === other, "!=": (one, other) => one !== other,
  "<=": (one, other) => one <= other, ">=": (one, other) => one >= other,
  "<": (one, other) => one < other, ">": (one, other) => one > other,
};
/** What a table has under a name that may be any text. */
const own = (table, name) => Object.hasOwn(table, name) ? table[name] : undefined;

const KEYWORDS = { and: "and", "&&": "and", or: "or", "||": "or", not: "not", "!": "not" };

/** Whether a packet is a failure, and is shown as one. */
export const isError = FIELDS.error.read;
export const isAdvertising = FIELDS.advertising.read;
/** Whether a packet only keeps something going: an empty PDU, or a count of packets. */
export const isIdle = (packet) => FIELDS.empty.read(packet) || FIELDS.flow.read(packet);

/** A fault in a filter: what is wrong, and from which character to which. */
export class FilterError extends Error {
  constructor(message, { from, to }) {
    super(message);
    Object.assign(this, { from, to });
  }
}

/** The parts of a filter with their places. A text whose quotation mark is missing reaches to the end. */
function tokens(source) {
  const found = [];
  for (const match of source.matchAll(/(["'])(.*?)(?:\1|$)|[()]|&&|\|\||[=!<>]=|[<>!=]|[^\s()"'=!<>]+/g)) {
    const [all, quote, inside] = match;
    const [from, to] = [match.index, match.index + all.length];
    const isClosed = !quote || (all.length > 1 && all.endsWith(quote));
    const value = quote ? inside : all;
    const kind = quote ? "text" : "()".includes(all) ? all : own(COMPARISONS, all) || all === "=" ? "comparison"
      : own(KEYWORDS, all.toLowerCase()) ?? "word";
    found.push({ kind, value: value === "=" && !quote ? "==" : value, from, to, isClosed });
  }
  return found;
}

const fieldOf = ({ kind, value }) => kind === "word" && own(FIELDS, value.toLowerCase()) ? value.toLowerCase() : null;

/** A number, in decimal or hexadecimal, or a time as the list shows it. */
function numberOf(value) {
  if (/^-?(0x[0-9a-f]+|\d+(\.\d+)?)$/i.test(value)) return value.startsWith("-") ? -Number(value.slice(1)) : Number(value);
  if (!/^\d+(:[0-5]?\d){1,2}(\.\d+)?$/.test(value)) return null;
  return value.split(":").reduce((sum, each) => sum * 60 + Number(each), 0);
}

/** A parser by recursive descent: a method for each level, from "or", which binds least, to a condition. */
class Parser {
  constructor(source) {
    this.tokens = tokens(source);
    this.place = 0;
    this.depth = 0;
    this.end = { kind: "end", value: "", from: source.length, to: source.length };
    this.fields = new Set();
  }

  get token() { return this.tokens[this.place] ?? this.end; }

  next() {
    const { token } = this;
    this.place += 1;
    return token;
  }

  whole() {
    if (this.token.kind === "end") return () => true;
    const test = this.either();
    if (this.token.kind !== "end") throw new FilterError(") has no matching (", this.token);
    return test;
  }

  either() {
    const tests = [this.all()];
    while (this.token.kind === "or") {
      this.next();
      tests.push(this.all());
    }
    return tests.length === 1 ? tests[0] : (...given) => tests.some((test) => test(...given));
  }

  /** Conditions with "and" between them, or nothing. */
  all() {
    const tests = [this.one()];
    while (!["or", ")", "end"].includes(this.token.kind)) {
      if (this.token.kind === "and") this.next();
      tests.push(this.one());
    }
    return tests.length === 1 ? tests[0] : (...given) => tests.every((test) => test(...given));
  }

  one() {
    const token = this.next();
    if (token.kind === "not" || token.kind === "(") return this.nested(token);
    if (token.kind === "text" || token.kind === "word") return this.condition(token);
    throw new FilterError(token.kind === "end" ? "the filter ends where a condition is missing" : `a condition is missing before ${token.value}`, token);
  }

  nested(token) {
    this.depth += 1;
    if (this.depth > DEEPEST) throw new FilterError("the filter is nested too deeply", token);
    const test = token.kind === "not" ? this.one() : this.either();
    this.depth -= 1;
    if (token.kind === "not") return (...given) => !test(...given);
    if (this.next().kind !== ")") throw new FilterError("( has no matching )", token);
    return test;
  }

  condition(token) {
    const name = fieldOf(token);
    const { kind } = this.token;
    if (!name) {
      if (kind === "comparison") throw new FilterError(`there is no field ${token.value}`, token);
      const searched = this.textOf(token).toLowerCase();
      return (packet) => packet.text.toLowerCase().includes(searched);
    }
    this.fields.add(name);
    const field = FIELDS[name];
    if (field.kind === "flag") {
      if (kind === "comparison") throw new FilterError(`${name} has no value; write ${name}, or not ${name}`, this.token);
      return field.read;
    }
    return field.kind === "number" ? this.comparison(name, field) : this.likeness(name, field);
  }

  /** A comparison with a number. A packet without the field fits none. */
  comparison(name, { read, example }) {
    const sign = this.next();
    if (sign.kind !== "comparison" || sign.value === "!") throw new FilterError(`${name} needs a comparison, such as ${name} < ${example}`, sign);
    const token = this.next();
    const value = numberOf(token.value);
    if (value === null) {
      throw new FilterError(token.kind === "end" ? `a number is missing after ${sign.value}` : `${token.value} is no number, such as ${example}`, token);
    }
    const compare = COMPARISONS[sign.value];
    return (packet) => read(packet).some((each) => compare(each, value));
  }

  /** A text that a field contains, or with a comparison is. */
  likeness(name, { read, example }) {
    const sign = this.token.kind === "comparison" ? this.next() : null;
    if (sign && sign.value !== "==" && sign.value !== "!=") throw new FilterError(`${name} is text, and has no ${sign.value}`, sign);
    const token = this.next();
    if (token.kind !== "text" && token.kind !== "word") throw new FilterError(`${name} needs a text, such as ${name} ${example}`, token);
    const value = this.textOf(token).toLowerCase();
    return (packet, nameOf) => {
      const values = read(packet, nameOf).map((each) => each.toLowerCase());
      if (!sign) return values.some((each) => each.includes(value));
      return values.length > 0 && values.includes(value) === (sign.value === "==");
    };
  }

  textOf(token) {
    if (!token.isClosed) throw new FilterError("a quotation mark is missing", token);
    return token.value;
  }
}

/**
 * Parses a filter, and returns its `test`, called with a packet and a function that names devices, and the `fields` that it names.
 *
 * Throws a `FilterError` that says what is wrong, and where.
 */
export function parse(source) {
  const parser = new Parser(source);
  return { test: parser.whole(), fields: parser.fields };
}

/** What may come after some parts of a filter: a condition, a comparison with a field, its value, or what joins conditions. */
function expected(before) {
  let [wants, field] = ["condition", null];
  for (const token of before) {
    if (wants === "comparison" && token.kind === "comparison") {
      wants = "value";
    } else if (wants === "value" || (wants === "comparison" && FIELDS[field].kind === "text")) {
      wants = "joint";
    } else if (["and", "or", "not", "("].includes(token.kind)) {
      wants = "condition";
    } else {
      field = fieldOf(token);
      wants = field && FIELDS[field].kind !== "flag" ? "comparison" : "joint";
    }
  }
  return { wants, field };
}

const quoted = (value) => fieldOf({ kind: "word", value }) || !/^[^\s()"'=!<>]+$/.test(value) || own(KEYWORDS, value.toLowerCase())
  ? value.includes('"') ? `'${value}'` : `"${value}"` : value;

/** The items that can be at a place of a filter. `offers` has the known values of fields, and the `words` of texts. */
function items(before, offers) {
  const { wants, field } = expected(before);
  const values = (known) => [...(known ?? [])].map((value) => ({ text: quoted(value), label: value, help: "" }));
  const example = { text: FIELDS[field]?.example, help: FIELDS[field]?.help };
  const comparisons = (signs) => signs.map((text) => ({ text, help: "" }));
  if (wants === "value") return FIELDS[field].kind === "text" ? values(offers[field]) : [example];
  if (wants === "comparison") {
    return FIELDS[field].kind === "text" ? [...values(offers[field]), ...comparisons(["==", "!="])] : comparisons(Object.keys(COMPARISONS));
  }
  const joints = wants === "joint" ? [{ text: "and", help: "both" }, { text: "or", help: "one of both" }] : [];
  const fields = Object.entries(FIELDS).map(([text, { help }]) => ({ text, help }));
  return [...joints, ...fields, { text: "not", help: "all others" }, ...values(offers.words)];
}

/** Returns what the part of a filter at the cursor may become: `items` with a `text` and a `help`, in place of `from` to `to`. */
export function complete(source, cursor, offers) {
  const all = tokens(source.slice(0, cursor));
  const last = all.at(-1);
  const isOpen = last && last.to === cursor && (!last.isClosed || !["text", "(", ")", "comparison"].includes(last.kind));
  const from = isOpen ? last.from : cursor;
  const typed = isOpen ? last.value.toLowerCase() : "";
  const fits = ({ text, label }) => (label ?? text).toLowerCase().includes(typed) && text !== last?.value;
  // Those that begin with what is typed come first.
  const begins = ({ text, label }) => (label ?? text).toLowerCase().startsWith(typed);
  const found = items(isOpen ? all.slice(0, -1) : all, offers).filter(fits);
  const ordered = [...found.filter(begins), ...found.filter((each) => !begins(each))];
  return { from, to: cursor, items: ordered.slice(0, typed ? MOST_ITEMS : found.length).slice(0, 3 * MOST_ITEMS) };
}
