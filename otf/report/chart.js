// A sequence chart: a lifeline for each port, the system in the middle, time downwards.

const BETWEEN = [46, 300]; // pixels between two lifelines: labels may lie across others
const WIDE = 900; // where the room is not known
const LEFT = 96; // for the time and the step
const TOP = 46;
const GAP = 34; // between two events at least
const LONGEST = 170; // between two events at most: a longer pause is cut, and marked
const LETTER = 6.7; // pixels of a character on average
const HOW = { observed: "observed at rest", timed: "timed", barrier: "a barrier was answered" };

function eventText(path, event) {
  if (event.value !== undefined) return path.values[event.value].text;
  if (event.kind !== "quiet") return event.text;
  const how = HOW[event.by] ? `, ${HOW[event.by]}` : "";
  return event.failed ? `nothing more came${how}` : `silence${how}`;
}

// A text of at most so many characters, cut between two of its words.
function cutText(text, most) {
  if (text.length <= most) return text;
  const short = text.slice(0, most - 2);
  const at = Math.max(short.lastIndexOf(" "), short.lastIndexOf("("), short.lastIndexOf(",")) + 1;
  return `${short.slice(0, at > most / 3 ? at : short.length).trimEnd()} …`;
}

// The same of a row: of two values that differ in a field, one too long for the room is shortened to that field.
function cutRow({ text, brief }, most) {
  return cutText(text.length > most && brief ? brief : text, most);
}

function chartPorts(events) {
  const ports = [...new Set(events.filter((event) => event.port !== undefined || event.value !== undefined).map((event) => event.port ?? ""))];
  // a wait is an input of no port
  const answered = events.some((event) => event.value !== undefined && event.kind !== "sent" && !event.port);
  return ports.length > 1 && !answered ? ports.filter(Boolean) : ports;
}

// Rows: the events, and before the one that failed a row for each output that was expected.
function chartRows(path, from, to, hidden) {
  const rows = [];
  for (let at = from; at < to; at += 1) {
    const event = path.events[at];
    if (hidden?.has(event.step)) continue;
    if (event.failed && path.failure) rows.push(...ghosts(path, event));
    const last = rows[rows.length - 1];
    if (event.kind === "stalled" && last?.stalls) addStall(last, at);
    else rows.push({ at, event, time: event.at, text: eventText(path, event), brief: event.failed && path.failure?.brief?.[1], stalls: event.kind === "stalled" && [at] });
  }
  // a stall is known only at its end
  return rows.sort((one, other) => one.time - other.time);
}

// Stalls that follow one another are one row: on a busy machine they would hide what happened.
function addStall(row, at) {
  row.stalls.push(at);
  row.text = `the machine stalled ${row.stalls.length} times`;
}

// The inputs that were sent at once with the one before: the system may have taken them in any order.
function burstsOf(path) {
  const joined = new Set();
  const single = path.failure ? path.failure.step - path.failure.together : Infinity;
  let before = null;
  path.events.forEach((event, at) => {
    if (event.kind === "sent" && before !== null) {
      const other = path.events[before];
      // inputs that one client did not wait after are a burst only where they are known to be
      if (event.port !== other.port || other.step > single) joined.add(before).add(at);
    }
    if (event.kind !== "stalled") before = event.kind === "sent" ? at : null;
  });
  return joined;
}

function ghosts(path, event) {
  const ports = chartPorts(path.events);
  const { expected, all, kind, port, brief, together } = path.failure;
  // what did not come, or answers another input of a burst, may belong to another port than what came
  const other = ports.length === 1 ? ports[0] : kind === "missing" || together > 1 ? undefined : port || undefined;
  if (!expected.length) return [{ ghost: true, time: event.at, text: "expected: no output" }];
  return expected.map((each, number) => ({
    ghost: true,
    time: event.at,
    port: ports.includes(each.port) ? each.port : other,
    text: `${number ? (all ? "and" : "or") : "expected:"} ${each.text}`,
    brief: brief && `expected: ${brief[0]}`,
  }));
}

// The height of each row: even, or by time, in which long pauses are cut.
function chartHeights(rows, scaled, gap) {
  const pauses = rows.map((row, at) => (at ? Math.max(0, row.time - rows[at - 1].time) : 0));
  const usual = [...pauses].filter(Boolean).sort((one, other) => one - other);
  const scale = usual.length ? 70 / usual[Math.floor(usual.length * 0.7)] : 0;
  let y = TOP;
  return rows.map((row, at) => {
    const wanted = scaled ? pauses[at] * scale : 0;
    y += Math.max(gap, Math.min(LONGEST, wanted));
    return { y, cut: wanted > LONGEST ? pauses[at] : 0 };
  });
}

// Draw the events from one to another into a room that is so wide, without those of the hidden steps; `choose` gets the
// number of an event that is clicked.
function drawChart(path, { from = 0, to = path.events.length, hidden, selected = -1, scaled = false, room = WIDE, gap = GAP, choose } = {}) {
  const rows = chartRows(path, from, to, hidden);
  const heights = chartHeights(rows, scaled, gap);
  const ports = chartPorts(path.events);
  if (!ports.length) ports.push("");
  const between = Math.round(Math.min(BETWEEN[1], Math.max(BETWEEN[0], (room - LEFT) / (ports.length + 1))));
  const names = [...ports.slice(0, Math.ceil(ports.length / 2)), null, ...ports.slice(Math.ceil(ports.length / 2))];
  const columns = new Map(names.map((name, at) => [name, LEFT + between / 2 + at * between]));
  const width = LEFT + names.length * between;
  const height = (heights.length ? heights[heights.length - 1].y : TOP) + 30;
  const view = { columns, width, letters: Math.floor(between / LETTER) - 1, bursts: burstsOf(path) };
  const chart = drawing("svg", {
    class: "chart", viewBox: `0 0 ${width} ${height}`, width, height, role: "list",
    "aria-label": `sequence chart of ${path.events.slice(from, to).filter((event) => !hidden?.has(event.step)).length} events, ports ${ports.join(", ") || "one"}`,
  });
  chart.append(...chartHeads(view, height), ...chartWindows(path, rows, heights, view));
  rows.forEach((row, at) => chart.append(chartRow(row, heights[at], view, { selected, choose })));
  return chart;
}

function chartHeads({ columns, letters }, height) {
  return [...columns].flatMap(([name, x]) => [
    drawing("text", { x, y: 24, "text-anchor": "middle", class: name === null && "system" }, cutText(name === null ? systemName(letters) : name || "port", letters)),
    drawing("line", { x1: x, y1: 34, x2: x, y2: height - 10, class: "life" }),
  ]);
}

const systemName = (letters) => (letters < 18 ? "SUT" : "system under test");

// Whether two windows are one, known better after a later event: they share more than half of the shorter.
function sameWindow(one, other) {
  const shared = Math.min(one.to, other.to) - Math.max(one.from, other.from);
  return shared >= Math.min(one.to - one.from, other.to - other.from) / 2;
}

// Windows as bars on the lifelines: the same window seen again after a later event replaces the one before.
function chartWindows(path, rows, heights, { columns }) {
  const last = new Map();
  for (const { event } of rows) {
    for (const window of event?.windows ?? []) {
      const name = JSON.stringify([window.port, window.since, window.lo, window.hi]);
      const known = last.get(name) ?? last.set(name, []).get(name);
      const again = known.findIndex((other) => sameWindow(window, other));
      known.splice(again < 0 ? known.length : again, 1, window);
    }
  }
  const height = (time) => {
    const next = rows.findIndex((row) => row.time >= time);
    if (next < 0) return heights.length ? heights[heights.length - 1].y + 12 : TOP;
    if (next === 0) return TOP;
    const share = (time - rows[next - 1].time) / (rows[next].time - rows[next - 1].time || 1);
    return heights[next - 1].y + share * (heights[next].y - heights[next - 1].y);
  };
  return [...last.values()].flat().map((window) => {
    const x = columns.get(columns.has(window.port) ? window.port : null);
    const [top, bottom] = [height(window.from), height(window.to)];
    const text = `window: due ${seconds(window.lo)} to ${seconds(window.hi)} after ${window.since}`;
    const bar = drawing("rect", { x: x - 5, y: top, width: 10, height: Math.max(4, bottom - top), class: "window" });
    return drawing("g", { role: "listitem", "aria-label": text }, drawing("title", {}, text), bar);
  });
}

function chartRow(row, { y, cut }, view, { selected, choose }) {
  const { event, ghost } = row;
  const classes = ["row", ghost && "ghost", event?.failed && "bad", (row.at === selected || row.stalls?.includes?.(selected)) && "selected", event?.after && "after"];
  const said = ghost ? row.text : rowSaid(row) + (view.bursts.has(row.at) ? ", sent at once with others, which the system takes in any order" : "");
  const group = drawing("g", { class: classes.filter(Boolean).join(" "), role: "listitem", "aria-label": said, "data-event": row.at });
  group.append(drawing("title", {}, said), drawing("rect", { x: 2, y: y - 20, width: view.width - 4, height: 30, class: "hit" }));
  if (cut) group.append(drawing("text", { x: 8, y: y - 40, class: "soft" }, `≈ ${seconds(cut)} cut ≈`));
  if (!ghost) group.append(drawing("text", { x: 8, y: y + 4, class: "soft" }, `${event.at.toFixed(4)} s`));
  if (view.bursts.has(row.at)) group.append(drawing("rect", { x: LEFT - 4, y: y - 20, width: 3, height: GAP, class: "burst" }));
  if (event?.kind === "sent") group.append(drawing("text", { x: LEFT - 8, y: y + 4, class: "number", "text-anchor": "end" }, `${event.step}`));
  const across = ghost ? row.port === undefined : !view.columns.has(event.port ?? "") || ["quiet", "taken", "stalled", "guess"].includes(event.kind);
  group.append(...(across ? chartBand(row, y, view) : chartArrow(row, y, view)));
  if (choose && !ghost) group.addEventListener("click", () => choose(row.at));
  return group;
}

function rowSaid({ event, text }) {
  const where = event.kind === "sent" ? `to the system on ${event.port || "its port"}` : event.kind === "seen" ? `from the system on ${event.port || "its port"}` : "";
  return [`step ${event.step}`, `${event.at.toFixed(6)} s`, text, where, event.failed && "failed here", event.after && "afterwards, not judged"].filter(Boolean).join(", ");
}

function chartBand({ event, text, brief, ghost }, y, { width }) {
  const [low, high] = [LEFT, width - 4];
  const shown = `${event?.failed ? "✗ " : ""}${cutRow({ text, brief }, Math.floor((high - low) / LETTER) - 4)}`;
  const line = drawing("line", { x1: low, y1: y, x2: high, y2: y, class: ghost || event.kind === "quiet" ? "quiet" : "taken" });
  return [line, chartLabel(shown, (low + high) / 2, y + 4, width)].flat();
}

function chartArrow({ event, text, brief, ghost, port }, y, { columns, width }) {
  const [outer, system] = [columns.get(port ?? event.port ?? ""), columns.get(null)];
  const [start, end] = event?.kind === "sent" ? [outer, system] : [system, outer];
  const back = end < start ? 9 : -9;
  const closed = event?.kind === "closed";
  const head = closed ? `M${end - 6} ${y - 6}l12 12m-12 0l12 -12` : `M${end} ${y}l${back} -5v10z`;
  const shown = `${event?.failed ? "✗ " : ""}${cutRow({ text, brief }, Math.floor((width - LEFT) / LETTER) - 4)}`;
  return [
    ...chartLabel(shown, (start + end) / 2, y - 6, width), // first: its halo would cut the head of the arrow
    drawing("line", { x1: start, y1: y, x2: end, y2: y, class: "arrow" }),
    drawing("path", { d: head, class: closed ? "cross" : "head" }),
  ];
}

// A label around x, moved so that all of it is in the picture.
function chartLabel(text, x, y, width) {
  const room = text.length * LETTER + 12;
  const at = Math.max(LEFT + room / 2, Math.min(width - room / 2, x));
  return [
    drawing("rect", { x: at - room / 2, y: y - 12, width: room, height: 15, class: "back" }),
    drawing("text", { x: at, y, "text-anchor": "middle", class: "label" }, text),
  ];
}
