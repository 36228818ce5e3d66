"use strict";
// Elements, and tables of values and states. What a system sent is set as text alone: nothing here parses markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== undefined && child !== false && child !== ""));
  return made;
}

// An element of HTML, or of SVG; attributes that are functions listen to the event of that name.
function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

// A value as text that a narrow column breaks between its parts, and not inside one.
function breakable(text) {
  return text.split(/(?<=[(,=[{])/).flatMap((part, at) => (at ? [element("wbr"), part] : [part]));
}

function drawing(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function seconds(value) {
  if (Math.abs(value) >= 1) return `${+value.toPrecision(4)} s`;
  if (Math.abs(value) >= 0.001) return `${+(value * 1e3).toPrecision(3)} ms`;
  return `${Math.round(value * 1e6)} µs`;
}

// The parts of two values that differ: for each name what became more and less of it, or what it was.
function changed(parts, before) {
  const found = new Map();
  if (before === undefined) return found;
  const old = new Map(before);
  for (const [name, now] of parts) {
    const was = old.get(name);
    if (JSON.stringify(was) === JSON.stringify(now)) continue;
    const lists = Array.isArray(now) && Array.isArray(was);
    const [more, less] = lists ? [without(now, was), without(was, now)] : [[], []];
    // what is new as a whole is no list with changes
    found.set(name, lists && more.length + less.length <= now.length - more.length + 1 ? { more, less } : { was });
  }
  return found;
}

// The elements of one list that another does not have; elements may come more than once.
function without(list, other) {
  const left = [...other];
  return list.filter((item) => {
    const at = left.indexOf(item);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

const written = (part) => (part === undefined ? "nothing" : Array.isArray(part) ? part.join(", ") || "empty" : part);

function partCell(part, change) {
  const cell = element("td");
  const added = change && change.more ? [...change.more] : [];
  if (!Array.isArray(part)) cell.append(change ? element("strong", {}, written(part)) : written(part));
  else if (!part.length) cell.append("empty");
  else {
    const items = part.map((item) => {
      const at = added.indexOf(item);
      if (at >= 0) added.splice(at, 1);
      return element("li", { class: at >= 0 && "more" }, at >= 0 ? `+ ${item}` : item);
    });
    cell.append(element("ul", {}, ...items));
  }
  for (const item of change?.less ?? []) cell.append(element("div", { class: "less" }, `− ${item}`));
  if (change && !change.more) cell.append(element("div", { class: "less" }, `was ${written(change.was)}`));
  return cell;
}

// A value as a table of its parts. What changed since `before` is marked by a sign, bold, and what it was.
function valueTable(value, before) {
  const changes = changed(value.parts, before?.parts);
  const plain = value.parts.length === 1 && value.parts[0][0] === "" && !Array.isArray(value.parts[0][1]);
  if (plain && !changes.size) return element("p", { class: "value" }, element("code", {}, value.text));
  if (!value.parts.length) return element("p", { class: "value" }, element("code", {}, value.text));
  const rows = value.parts.map(([name, part]) => {
    const change = changes.get(name);
    return element(
      "tr", { class: change && "changed" },
      element("th", { scope: "row" }, change ? element("span", { title: "changed", class: "sign" }, "≠ ") : "", name || value.type),
      partCell(part, change),
    );
  });
  return element("table", { class: "parts" }, element("caption", {}, value.type), element("tbody", {}, ...rows));
}

// The value among several that differs from this one in the fewest parts.
function nearestValue(value, others) {
  const distance = (other) => changed(value.parts, other.parts).size + (other.type === value.type ? 0 : 100);
  return others.reduce((best, other) => (best === undefined || distance(other) < distance(best) ? other : best), undefined);
}

// The possible states beside those before: each against the one that it is nearest to.
function stateTables(states, before, more = 0) {
  const known = new Set(before.map((state) => JSON.stringify(state.parts)));
  const tables = states.map((state, at) => {
    const old = known.has(JSON.stringify(state.parts)) ? state : nearestValue(state, before);
    const head = states.length + more > 1 ? element("h4", {}, `${at + 1} of ${states.length + more}`) : "";
    return element("div", { class: "state-table" }, head, valueTable(state, old));
  });
  const rest = more ? element("p", { class: "soft" }, `… and ${more} other possible states`) : "";
  return element("div", {}, ...tables, rest);
}

// A text in which the parts that differ are marked: `cpe=3` where the path of a difference ends in cpe.
function markedText(text, differences, side) {
  const code = element("code");
  let rest = text;
  for (const { path, [side]: part } of differences) {
    const name = /^\w+$/.test(path) ? `${path}=${part}` : part;
    const at = rest.indexOf(name);
    if (at < 0) continue;
    code.append(rest.slice(0, at), element("mark", {}, name));
    rest = rest.slice(at + name.length);
  }
  code.append(rest);
  return code;
}

const ENDS = { 9: "\\t", 10: "\\n\n", 13: "\\r" };

// Bytes as they are read: text where all of them are text, with the hexadecimal form behind a click.
function shownBytes(raw, size) {
  const bytes = (raw.match(/../g) ?? []).map((byte) => parseInt(byte, 16));
  const dump = hexDump(bytes, size);
  if (!bytes.length || !bytes.every((byte) => (byte > 31 && byte < 127) || ENDS[byte])) return dump;
  const text = bytes.map((byte) => ENDS[byte] ?? String.fromCharCode(byte)).join("").trimEnd();
  const more = size > bytes.length ? `\n… ${size - bytes.length} more bytes` : "";
  return element("div", {},
    element("pre", { class: "bytes text", tabindex: 0, role: "region", "aria-label": `${size} bytes of text` }, text + more),
    element("details", { class: "hex" }, element("summary", {}, "in hexadecimal"), dump));
}

// Bytes as eight in a line: their position, hexadecimal, and what of it is text.
function hexDump(bytes, size) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += 8) {
    const line = bytes.slice(at, at + 8);
    const hex = line.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = line.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
    lines.push(`${at.toString(16).padStart(4, "0")}  ${hex.padEnd(23)}  ${text}`);
  }
  if (size > bytes.length) lines.push(`… ${size - bytes.length} more bytes`);
  return element("pre", { class: "bytes", tabindex: 0, role: "region", "aria-label": `${size} bytes` }, lines.join("\n"));
}

// The parts of a state that is there as a text: `Idle(a=1, b=(2, 3))` has a=1 and b=(2, 3).
function textParts(text) {
  const inner = /^\w+\((.*)\)$/s.exec(text);
  if (!inner) return [text];
  const parts = [""];
  let depth = 0, quote = "";
  for (const char of inner[1]) {
    if (quote) quote = char === quote ? "" : quote;
    else if (char === "'" || char === '"') quote = char;
    else if ("([{".includes(char)) depth += 1;
    else if (")]}".includes(char)) depth -= 1;
    if (char === "," && !depth && !quote) parts.push("");
    else parts[parts.length - 1] += char;
  }
  return parts.map((part) => part.trim()).filter(Boolean);
}

// A state beside the one that it follows, both as texts: only the parts that change, if both have the same parts.
function nextState(text, before) {
  if (text === before) return "the same state";
  const [parts, old] = [textParts(text), textParts(before)];
  const head = (whole) => whole.slice(0, whole.indexOf("(") + 1);
  if (parts.length !== old.length || parts.length < 2 || head(text) !== head(before)) return text;
  return parts.filter((part, at) => part !== old[at]).join(", ");
}

// A command with a button that copies it; where that is forbidden it is selected, to be copied by hand.
function commandLine(what, command) {
  // a line ends between two words, not within --bench
  const words = command.split(" ").map((word) => element("span", { class: "whole" }, word));
  const code = element("code", {}, ...words.flatMap((word, at) => (at ? [" ", word] : [word])));
  const button = element("button", { type: "button" });
  const say = (done) => { button.textContent = done; button.setAttribute("aria-label", `${done} the command to ${what}`); };
  say("copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command);
      say("copied");
    } catch {
      getSelection().selectAllChildren(code);
      say("selected");
    }
  });
  return element("div", { class: "command" }, element("span", { class: "soft" }, what), code, button);
}
