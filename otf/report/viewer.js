// The viewer: one path, its steps on the left, its chart in the middle, and what is known at one event on the right.

const AROUND = 60; // events drawn before and after the chosen one: with all of a long path the page would be slow
const CLOSE = 26; // between two events there: with the text beside it, it fits on a screen
const SHOWN = 40; // events of a failure drawn in the report itself
const NOT_UNPACKED = "This browser cannot unpack the path (it has no DecompressionStream). In a terminal this shows it: otf show ";
const HELP = "↑ ↓ step, ← → event, Home and End, F the failure, N and P other paths, Escape back to the report";

const embedded = JSON.parse(document.getElementById("paths-data").textContent);
const byName = new Map(embedded.map((head) => [head.name, head]));
const unpacked = new Map();
const TITLE = document.title;
let open = null; // the path that is shown: { head, path, steps, at, scaled, hidden }; the filter has hidden these steps
let sought = ""; // words of the filter, which stays from path to path

// The data of a path: base64, deflate, JSON.
async function unpack(head) {
  if (!unpacked.has(head.name)) {
    const bytes = Uint8Array.from(atob(head.packed), (char) => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    unpacked.set(head.name, await new Response(stream).json());
  }
  return unpacked.get(head.name);
}

async function unpackedOr(head, place) {
  if ("DecompressionStream" in window) return unpack(head);
  place.replaceChildren(element("p", { class: "doubt" }, NOT_UNPACKED + head.file));
  return null;
}

// The steps of a path: each with the numbers of its events; step 0 is what came before any input.
function stepsOf(path) {
  const steps = [];
  path.events.forEach((event, at) => {
    const last = steps[steps.length - 1];
    if (last && last.number === event.step) last.events.push(at);
    else steps.push({ number: event.step, events: [at] });
  });
  return steps;
}

// The address of an event: `#path-3/step-12`, and which event of the step if it is not the one shown first.
function addressOf({ head, path, steps, at }) {
  const step = steps.find((each) => each.events.includes(at));
  const address = `#${head.name}/step-${path.events[at].step}`;
  return at === firstOf(path, step) ? address : `${address}/event-${step.events.indexOf(at) + 1}`;
}

// The event of a step that is shown first: the one that failed, or else the input.
function firstOf(path, step) {
  return step.events.find((at) => path.events[at].failed) ?? step.events[0];
}

function failureOf(path) {
  return path.events.findIndex((event) => event.failed);
}

async function followAddress() {
  const found = /^#([\w.-]+)(?:\/step-(\d+))?(?:\/event-(\d+))?$/.exec(location.hash);
  const head = found && byName.get(found[1]);
  document.body.classList.toggle("viewing", Boolean(head));
  const place = document.getElementById("viewer");
  place.hidden = !head;
  if (!head) {
    open = null;
    document.title = TITLE;
    // a part of the report that was hidden a moment ago
    document.getElementById(location.hash.slice(1))?.scrollIntoView();
    return;
  }
  const path = await unpackedOr(head, place);
  if (path) openPath(head, path, found[2], found[3]);
}

function openPath(head, path, step, number) {
  const steps = stepsOf(path);
  const wanted = step === undefined ? undefined : steps.find((each) => each.number === Number(step));
  const failed = failureOf(path);
  const scaled = open?.scaled ?? false;
  let at = wanted ? wanted.events[Number(number) - 1] ?? firstOf(path, wanted) : failed >= 0 ? failed : 0;
  if (open?.head !== head) {
    open = { head, path, steps, at, scaled, hidden: new Set() };
    buildViewer();
    hideSteps(sought);
    showTimeline();
    scrollTo(0, 0);
    if (!wanted) at = shownNear(at);
  }
  document.title = `${head.name} (${path.verdict}), ${TITLE}`;
  choose(at);
  document.getElementById("steps").focus({ preventScroll: true });
}

function buildViewer() {
  const { head, path, steps } = open;
  const scale = element("button", { type: "button", id: "scale", "aria-pressed": String(open.scaled), click: toggleScale }, "time, long pauses cut");
  const paths = element("select", { change: (event) => { location.hash = event.target.value; } });
  for (const kind of new Set(embedded.map((each) => each.kind))) {
    const options = embedded.filter((each) => each.kind === kind).map((each) => element("option", { value: each.name, selected: each === head }, each.name));
    paths.append(element("optgroup", { label: kind }, ...options));
  }
  const list = element("ol", { id: "steps", role: "listbox", tabindex: 0, "aria-label": "steps" });
  for (const step of steps) list.append(stepItem(path, step));
  document.getElementById("viewer").replaceChildren(
    element("div", { class: "tools" },
      element("a", { href: "#failures" }, "← report"), element("label", {}, "path ", paths), scale,
      element("button", { type: "button", click: () => choose(Math.max(0, failureOf(path))), disabled: failureOf(path) < 0 }, "the failure"),
      element("label", {}, "filter ", element("input", { type: "search", placeholder: "port or text", value: sought, input: (event) => filterSteps(event.target.value) })), element("output", { id: "filtered", class: "soft", "aria-live": "polite" })),
    element("h2", { id: "viewed" }, head.name, " ", element("span", { class: `verdict ${path.verdict}` }, path.verdict)),
    element("p", {}, element("code", {}, head.group || path.why || "every output was one that the model allows")),
    element("div", { id: "timeline" }),
    element("div", { class: "panes" },
      element("section", { class: "pane steps", "aria-label": "steps of the path" }, list),
      element("div", { class: "pane middle", id: "chart", tabindex: 0, role: "region", "aria-label": "sequence chart" }),
      element("section", { class: "pane details", id: "details", tabindex: 0, "aria-label": "the chosen event" })),
    element("p", { id: "place", class: "soft", role: "status" }),
    element("p", { class: "soft keys" }, `Keys: ${HELP}.`),
    element("section", { "aria-label": "commands" }, element("h3", {}, "Commands"), ...Object.entries(head.commands).map(([what, command]) => commandLine(what, command))),
  );
}

// The numbers of the events that the filter shows.
const shownEvents = () => open.steps.flatMap((step) => (open.hidden.has(step.number) ? [] : step.events));

// An event, or if the filter hides it, one of the next step that is shown.
function shownNear(at) {
  const shown = open.steps.filter((step) => !open.hidden.has(step.number));
  if (!shown.length || shown.some((step) => step.events.includes(at))) return at;
  return firstOf(open.path, shown.find((step) => step.events[0] > at) ?? shown.at(-1));
}

// What the chart shows of the open path: the events around the chosen one.
function around() {
  const shown = shownEvents(), here = shown.indexOf(open.at);
  const [first, last] = [shown[Math.max(0, here - AROUND)], shown[Math.min(shown.length - 1, here + AROUND)]];
  return [first ?? open.at, (last ?? open.at) + 1];
}

// All of the path on one line of time, as wide as the page; of a long one also the part that the chart shows.
function showTimeline() {
  const place = document.getElementById("timeline");
  if (!open?.path.events.length || !place) return;
  const { path, near, hidden } = open;
  const [from, to] = near ? around() : [0, path.events.length];
  const part = near ? { ...path, events: path.events.slice(from, to) } : path;
  const chosen = (number) => choose(from + number);
  const held = document.activeElement.id === "near";
  open.timeline = { from, ...drawTimeline(part, place.clientWidth, chosen, chartPorts(path.events), hidden) };
  place.replaceChildren(open.timeline.drawn, timelineSaid(part, chosen));
  const zoom = element("button", { type: "button", id: "near", "aria-pressed": String(Boolean(near)), click: toggleNear }, "around the event");
  if (path.events.length > 2 * AROUND) place.lastChild.append(" ", zoom);
  if (held) zoom.focus({ preventScroll: true });
}

// Only the failing step, and those with an event whose text has these words; the name of a port means the port.
function hideSteps(text) {
  sought = text;
  const { path, steps, hidden } = open;
  const words = text.toLowerCase().split(/\s+/u).filter(Boolean), ports = new Set(path.events.map(portOf));
  for (const step of steps) {
    const events = step.events.map((at) => path.events[at]);
    const told = events.map((event) => `${portOf(event)} ${eventText(path, event)}`).join("\n").toLowerCase();
    const found = words.every((word) => (ports.has(word) ? events.some((event) => portOf(event) === word) : told.includes(word)));
    const shown = found || events.some((event) => event.failed);
    hidden[shown ? "delete" : "add"](step.number);
    document.getElementById(`step-${step.number}`).hidden = !shown;
  }
  document.getElementById("filtered").textContent = words.length ? `${(steps.length - hidden.size).toLocaleString("en")} of ${countOf(steps.length, "step")}` : "";
}

function filterSteps(text) {
  hideSteps(text);
  showTimeline();
  if (open.path.events.length) choose(shownNear(open.at));
}

const portOf = (event) => (event.port ?? "").toLowerCase();

function stepItem(path, step) {
  const events = step.events.map((at) => path.events[at]);
  const failed = events.some((event) => event.failed);
  const input = step.events.find((at) => path.events[at].kind === "sent");
  path.bursts ??= burstsOf(path);
  const outputs = events.filter((event) => event.kind === "seen" || event.kind === "closed").map((event) => eventText(path, event));
  const number = failed ? `✗ ${step.number}` : `${step.number}`;
  const together = path.bursts.has(input) ? " (at once)" : "";
  const sent = input === undefined ? "(before any input)" : eventText(path, path.events[input]) + together;
  return element("li", {
    role: "option", id: `step-${step.number}`, class: failed && "bad", "aria-selected": "false",
    // where a line may break, a screen reader would hear a space
    "aria-label": [number, sent, ...outputs.slice(0, 6).map((text) => `→ ${text}`)].join(" "),
    click: () => choose(firstOf(path, step)),
  },
  element("span", { class: "number" }, number), " ",
  element("span", { class: "told" },
    element("span", { class: "input" }, ...breakable(sent)),
    ...outputs.slice(0, 6).map((text) => element("span", { class: "output" }, " ", ...breakable(`→ ${text}`))),
    outputs.length > 6 ? element("span", { class: "output" }, `→ … ${outputs.length - 6} more`) : ""));
}

// Show an event of the open path: mark its step, draw the chart around it, tell what is known there.
function choose(at) {
  const { path, steps } = open;
  open.at = at;
  const event = path.events[at];
  // who asks for a step that the filter hides wants to see it among all
  if (open.hidden.has(event?.step) && open.hidden.size < steps.length) {
    document.querySelector("#viewer [type=search]").value = "";
    hideSteps("");
    showTimeline();
  }
  const list = document.getElementById("steps");
  for (const item of list.querySelectorAll("[aria-selected=true]")) item.setAttribute("aria-selected", "false");
  const item = document.getElementById(`step-${event?.step ?? 0}`);
  item?.setAttribute("aria-selected", "true");
  if (item) list.setAttribute("aria-activedescendant", item.id);
  // not scrollIntoView, which would move the page as well
  const pane = list.parentElement;
  if (item && (item.offsetTop < pane.scrollTop || item.offsetTop + item.offsetHeight > pane.scrollTop + pane.clientHeight)) pane.scrollTop = item.offsetTop - pane.clientHeight / 2;
  drawAround();
  document.getElementById("details").replaceChildren(...(event ? details(path, at) : [element("p", {}, "Nothing was sent on this path.")]));
  document.getElementById("details").scrollTop = 0;
  const before = path.earlier ? ` (${path.earlier} earlier events are left out)` : "";
  document.getElementById("place").textContent = event ? `step ${event.step} of ${steps[steps.length - 1].number}, event ${at + 1} of ${path.events.length}${before}` : "";
  if (event) history.replaceState(null, "", addressOf(open));
}

function drawAround() {
  const { path, at, scaled, hidden } = open;
  const place = document.getElementById("chart");
  const [from, to] = around();
  if (open.near) showTimeline();
  const start = open.timeline?.from ?? 0;
  open.timeline?.mark(at - start, from - start, to - start);
  place.replaceChildren(drawChart(path, { from, to, hidden, selected: at, scaled, room: place.clientWidth - 18, choose }));
  const row = place.querySelector(".selected");
  if (row) place.scrollTop = row.querySelector(".hit").getBBox().y - place.clientHeight / 2;
}

function toggleScale() {
  open.scaled = !open.scaled;
  document.getElementById("scale").setAttribute("aria-pressed", String(open.scaled));
  drawAround();
}

function toggleNear() {
  open.near = !open.near;
  showTimeline();
  drawAround();
}

// The time since the event before. A stall is known only at its end, so an event told after another may be before it.
function sinceEarlier({ events }, at) {
  const { at: time } = events[at];
  const earlier = events.filter((other, number) => other.at < time || (other.at === time && number < at));
  return earlier.length ? `${seconds(time - Math.max(...earlier.map((other) => other.at)))} after the event before` : "";
}

// What is known at an event, from the most to the least important.
function details(path, at) {
  const event = path.events[at];
  return [
    element("h3", {}, { sent: "Input", seen: "Output", quiet: "Silence", taken: "Taken", stalled: "Stall", closed: "End of a port" }[event.kind]),
    element("p", { class: "soft" }, [`step ${event.step}`, `${event.at.toFixed(6)} s`, sinceEarlier(path, at), event.port && `port ${event.port}`, event.slack && `seen up to ${seconds(event.slack)} late`].filter(Boolean).join(", ")),
    ...(event.failed ? failureDetails(path) : []),
    ...(event.after ? [element("p", {}, "It came after the failure and was not judged.")] : []),
    ...valueDetails(path, event, at),
    ...windowDetails(event),
    ...stateDetails(path, at),
    ...allowedDetails(path, event),
  ];
}

function failureDetails({ failure }) {
  const { differences, expected, note, times } = failure;
  const wanted = expected.length ? expected.map((each) => element("li", {}, markedText(each.text, differences, "allowed"), each.port && ` on ${each.port}`)) : [element("li", {}, "no output")];
  const rows = differences.map((each) => element("tr", { class: "changed" },
    element("th", { scope: "row" }, element("span", { class: "sign" }, "≠ "), each.path || "the value"), element("td", {}, each.allowed), element("td", {}, each.seen)));
  const head = element("tr", {}, ...["part", "expected", "seen"].map((text) => element("th", { scope: "col" }, text)));
  return [
    element("div", { class: "failure" },
      element("p", { class: "fail" }, `✗ ${failure.kind}: ${failure.says}`),
      element("dl", {},
        element("dt", {}, expected.length > 1 && !failure.all ? "expected, one of" : "expected"), element("dd", {}, element("ul", { class: "ghosts" }, ...wanted)),
        element("dt", {}, "seen"), element("dd", {}, markedText(failure.seen, differences, "seen"), failure.port && !failure.seen.endsWith(` on ${failure.port}`) && ` on ${failure.port}`),
        element("dt", {}, "before it"), element("dd", {}, failure.before.length ? element("code", {}, failure.before.join(", ")) : "nothing")),
      rows.length ? element("table", {}, element("caption", {}, "differences"), element("thead", {}, head), element("tbody", {}, ...rows)) : "",
      ...times.map((line) => element("p", {}, line)),
      note ? element("pre", { tabindex: 0 }, note) : ""),
  ];
}

function valueDetails(path, event, at) {
  if (event.value === undefined) return event.failed ? [] : [element("p", {}, eventText(path, event))];
  const raw = event.raw ? [element("h3", {}, "Bytes on the wire"), shownBytes(event.raw, event.size)] : [];
  const reading = event.raw ? "As the codec reads them" : "Value";
  return [...raw, element("h3", {}, reading), valueTable(path.values[event.value], sameBefore(path, at))];
}

// The last value of the same type and direction: what differs from it is marked.
function sameBefore(path, at) {
  const { kind, value } = path.events[at];
  for (let before = at - 1; before >= 0; before -= 1) {
    const other = path.events[before];
    if (other.kind === kind && path.values[other.value].type === path.values[value].type) return path.values[other.value];
  }
  return undefined;
}

function allowedDetails(path, event) {
  const states = path.allowed[event.allowed];
  if (!states.length) return [];
  // outputs of this step may have led on from there meanwhile
  const last = event.kind === "sent" ? "" : `, from the last settled state${states.length > 1 ? "s" : ""}`;
  return [element("h3", {}, `Allowed in this step${last}`),
    ...states.flatMap(({ state, branches, timers = [] }) => [
      element("p", { class: "soft" }, states.length > 1 ? "in " : "in the state ", element("code", {}, state)),
      ...timers.map((timer) => element("p", { class: "soft" }, `timer ${timer}`)),
      element("ul", { class: "branches" }, ...(branches.length ? branches : [[["anything: the model does not specify this"], ""]]).map(([texts, target]) =>
        element("li", {}, element("code", {}, texts.filter(Boolean).join(", ") || "no output"), target ? element("div", { class: "soft" }, "then ", element("code", {}, nextState(target, state))) : ""))),
    ])];
}

function windowDetails({ windows = [] }) {
  if (!windows.length) return [];
  const lines = windows.map((each) => element("li", {}, `${each.port || "a timer"}: due ${seconds(each.lo)} to ${seconds(each.hi)} after ${each.since}, between ${each.from.toFixed(3)} s and ${each.to.toFixed(3)} s of the run`));
  return [element("h3", {}, "Windows"), element("ul", {}, ...lines)];
}

function stateDetails(path, at) {
  const event = path.events[at];
  const { states, more } = path.sets[event.states];
  if (!states.length) return [];
  const first = path.events.findIndex((other) => other.step === event.step);
  const before = first > 0 ? path.sets[path.events[first - 1].states].states : states;
  const title = event.failed ? "Possible states, before it" : event.settled ? "Possible states" : "Possible states, with something still open";
  const count = states.length + more;
  return [
    element("h3", {}, `${title}: ${count}`),
    stateTables(states.map((number) => path.states[number]), before.map((number) => path.states[number]), more),
    element("p", { class: "soft" }, "≠ marks what has changed since the step before."),
  ];
}

function moveStep(by) {
  const { path, steps, at } = open;
  const now = steps.findIndex((step) => step.events.includes(at));
  // those that the filter shows, in the order in which they are met
  const ahead = (by < 0 ? steps.slice(0, now).reverse() : steps.slice(now + 1)).filter((step) => !open.hidden.has(step.number));
  const next = ahead[Math.min(ahead.length, Math.abs(by)) - 1];
  if (next) choose(firstOf(path, next));
}

function moveEvent(by) {
  const shown = shownEvents(), next = shown[shown.indexOf(open.at) + by];
  if (next !== undefined) choose(next);
}

// In the order of the list of paths; of the table of paths, if it shows only some.
function movePath(by) {
  const rows = [...document.querySelectorAll("#paths-table tbody tr")], shown = rows.filter((row) => !row.hidden);
  const links = shown.flatMap((row) => [...row.querySelectorAll("a")]).map((link) => link.hash.slice(1));
  const listed = [...document.querySelectorAll("#viewer option")].map((option) => option.value);
  const order = shown.length < rows.length && links.includes(open.head.name) ? links : listed;
  const next = order[order.indexOf(open.head.name) + by];
  if (next) location.hash = next;
}

const KEYS = {
  ArrowUp: () => moveStep(-1),
  ArrowDown: () => moveStep(1),
  ArrowLeft: () => moveEvent(-1),
  ArrowRight: () => moveEvent(1),
  Home: () => moveStep(-open.steps.length),
  End: () => moveStep(open.steps.length),
  f: () => choose(Math.max(0, failureOf(open.path))),
  n: () => movePath(1),
  p: () => movePath(-1),
  Escape: () => { location.hash = "#failures"; },
};

document.addEventListener("keydown", (event) => {
  const plain = !(event.ctrlKey || event.altKey || event.metaKey || event.shiftKey);
  if (!open || !plain || !KEYS[event.key] || event.target.matches("select, input, textarea")) return;
  event.preventDefault();
  KEYS[event.key]();
});

// In the report each failure has the end of its chart, drawn when it is opened.
async function drawFailure(place) {
  const head = byName.get(place.dataset.path);
  if (!head || place.firstChild) return;
  const path = await unpackedOr(head, place);
  if (!path) return;
  const to = failureOf(path) + 1 || path.events.length;
  place.replaceChildren(drawChart(path, { from: Math.max(0, to - SHOWN), to, room: place.clientWidth - 18, gap: CLOSE }));
  place.scrollTop = place.scrollHeight; // what failed is at the end
}

for (const place of document.querySelectorAll("[data-commands]")) {
  const commands = byName.get(place.dataset.commands)?.commands ?? {};
  place.append(...Object.entries(commands).map(([what, command]) => commandLine(what, command)));
}

for (const place of document.querySelectorAll("[data-path]")) {
  const around = place.closest("details");
  around.addEventListener("toggle", () => { if (around.open) drawFailure(place); });
  if (around.open) drawFailure(place);
}
window.addEventListener("hashchange", followAddress);
window.addEventListener("resize", () => { showTimeline(); if (open) drawAround(); });
followAddress();
