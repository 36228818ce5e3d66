// The timeline of a path, all of it to scale: inputs above the line of their port, outputs below it, silences, stalls.

const LANE = 22; // height of a port
const LANES = 6; // ports with a line of their own; more share the last one
const SIDE = 78; // room for the names of the ports

// The silences of a path: each from the last event that was sent or seen until the silence was known.
function silencesOf({ events }) {
  const found = [];
  let last = events[0]?.at;
  events.forEach((event, at) => {
    if (event.kind === "quiet") found.push({ from: last, to: event.at, at });
    if (["sent", "seen", "closed"].includes(event.kind)) last = event.at;
  });
  return found;
}

const stallsOf = ({ events }) => events.filter(({ kind }) => kind === "stalled").map(({ at, seconds }) => ({ from: at - seconds, to: at }));
const longestOf = (spans) => spans.reduce((best, each) => (best && best.to - best.from >= each.to - each.from ? best : each), undefined);
const countOf = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;

// What the timeline shows, in words; the longest silence can be chosen.
function timelineSaid(path, choose) {
  const { events } = path, kinds = (kind) => events.filter((event) => event.kind === kind).length;
  const [silence, stalls] = [longestOf(silencesOf(path)), stallsOf(path)];
  const stalled = stalls.reduce((sum, { from, to }) => sum + to - from, 0);
  return element("p", { class: "soft" },
    `${seconds(events.at(-1).at - events[0].at)} to scale${path.earlier ? `, without ${countOf(path.earlier, "earlier event")}` : ""}: ${countOf(kinds("sent"), "input")} (above the line of the port), ${countOf(kinds("seen"), "output")} (below)`,
    silence && ", longest silence ", silence && element("button", { type: "button", click: () => choose(silence.at) }, seconds(silence.to - silence.from)),
    stalls.length ? `, ${countOf(stalls.length, "stall")} of the machine, ${seconds(stalled)} together` : "");
}

// Draw all events of a path into a width, those of the hidden steps pale; `mark` moves the marks to an event, and to the range drawn in the chart.
function drawTimeline(path, room, choose, ports = chartPorts(path.events), hidden = new Set()) {
  const names = ports.length > LANES ? [...ports.slice(0, LANES - 1), `${ports.length - LANES + 1} others`] : ports;
  const lane = (port) => Math.max(0, Math.min(ports.indexOf(port ?? ""), LANES - 1));
  const [first, last] = [Math.min(...path.events.map((event) => event.at)), Math.max(...path.events.map((event) => event.at))];
  const left = Math.min(SIDE, room / 5), high = Math.max(1, names.length) * LANE + 8;
  const x = (time) => left + ((time - first) / (last - first || 1)) * (room - left - 8);
  const middle = (port) => 4 + lane(port) * LANE + LANE / 2;
  // one shape for all events of a kind: thousands of elements would be slow
  const bars = (spans, kind) => drawing("path", { class: kind, d: spans.map(({ from, to }) => {
    const start = x(Math.max(first, from));
    return `M${start.toFixed(1)} 4h${Math.max(1, x(to) - start).toFixed(1)}V${high - 4}h${-Math.max(1, x(to) - start).toFixed(1)}z`;
  }).join("") });
  const ticks = new Map();
  for (const event of path.events) {
    const known = { sent: ports.includes(event.port ?? "") ? "sent" : "waited", seen: "seen", closed: "seen" }[event.kind];
    const kind = event.failed ? "failed" : known, drawn = hidden.has(event.step) ? `${kind} pale` : kind;
    if (!kind) continue;
    const [from, to] = kind === "failed" || kind === "waited" ? [0, high] : kind === "sent" ? [middle(event.port) - 9, middle(event.port)] : [middle(event.port), middle(event.port) + 9];
    (ticks.get(drawn) ?? ticks.set(drawn, new Set()).get(drawn)).add(`M${x(event.at).toFixed(1)} ${from}V${to}`);
  }
  const step = 10 ** Math.floor(Math.log10(last - first || 1)), every = [step / 5, step / 2, step, 2 * step, 5 * step].find((each) => x(first + each) - left > 70) ?? 10 * step;
  const marks = [];
  for (let number = Math.ceil(first / every); number * every <= last && marks.length < 40; number += 1) marks.push(number * every);
  const [range, due, here] = [drawing("rect", { class: "range", y: 0, height: high }), drawing("path", { class: "window" }), drawing("path", { class: "now" })];
  // a label at the right end would be cut if it stood in the middle below its mark
  const below = (time) => `${+time.toPrecision(6)} s`, anchor = (time) => (x(time) + (below(time).length * LETTER) / 2 > room ? "end" : "middle");
  const silences = silencesOf(path), wide = silences.filter(({ from, to }) => x(to) - x(from) > 52);
  const drawn = drawing("svg", { class: "timeline", viewBox: `0 0 ${room} ${high + 16}`, width: room, height: high + 16, role: "img", "aria-label": "timeline of all events, to scale" },
    range,
    bars(silences, "silence"), bars(stallsOf(path), "stall"),
    ...names.flatMap((name, at) => [
      drawing("line", { class: "life", x1: left, x2: room - 8, y1: 4 + at * LANE + LANE / 2, y2: 4 + at * LANE + LANE / 2 }),
      drawing("text", { x: 0, y: 8 + at * LANE + LANE / 2 }, cutText(name || "port", Math.floor(left / LETTER)))]),
    ...[...ticks].map(([kind, lines]) => drawing("path", { class: kind, d: [...lines].join("") })),
    ...wide.map(({ from, to }) => drawing("text", { class: "soft", x: (x(from) + x(to)) / 2, y: 12, "text-anchor": "middle" }, seconds(to - from))),
    ...marks.map((time) => drawing("text", { class: "soft", x: x(time), y: high + 13, "text-anchor": anchor(time) }, below(time))),
    due, here);
  drawn.addEventListener("click", (click) => {
    const box = drawn.getBoundingClientRect(), [at, row] = [click.clientX - box.left, Math.floor((click.clientY - box.top - 4) / LANE)];
    const far = (event) => Math.abs(x(event.at) - at) + (lane(event.port) === row ? 0 : 6) + (hidden.has(event.step) ? room : 0);
    choose(path.events.reduce((best, event, number) => (far(event) < far(path.events[best]) ? number : best), 0));
  });
  const until = (time) => x(Math.min(last, time));
  const mark = (at, from, to) => {
    // when outputs are due, as it is known at this event
    due.setAttribute("d", (path.events[at].windows ?? []).map((window) => `M${until(window.from)} ${middle(window.port) + 2}h${Math.max(1, until(window.to) - until(window.from))}v5H${until(window.from)}z`).join(""));
    here.setAttribute("d", `M${x(path.events[at].at)} 0V${high}`);
    range.setAttribute("x", x(path.events[from].at));
    range.setAttribute("width", Math.max(2, x(path.events[to - 1].at) - x(path.events[from].at)));
  };
  return { drawn, mark };
}
