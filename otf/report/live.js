"use strict";
// A campaign while it runs. The page asks for figures once a second, or is loaded anew where it is a file.
(() => {
  const inside = document.getElementById("live-data");
  const place = (name) => document.getElementById(name);
  const say = (name, text) => { place(name).textContent = text; };
  const clock = (seconds) => (seconds < 60 ? `${Math.floor(seconds)} s` : `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")} min`);
  const name = document.title;
  // only what has changed is drawn anew: text that is marked, and what was opened, stay as they are
  const drawn = new Map();
  const draw = (into, value, make) => {
    const text = JSON.stringify(value);
    if (drawn.get(into) === text) return;
    drawn.set(into, text);
    into.replaceChildren(...value.map(make));
  };
  const failures = new Map();
  // the newest failure is open, and whatever the reader has opened or closed stays so
  const failure = (told, key) => {
    if (!failures.has(key)) {
      const made = element("details", { open: true }, element("summary", { click: () => { made.dataset.kept = ""; } }), ...["screen", "phone"].map((kind) => element("pre", { class: kind, tabindex: 0, role: "region", "aria-label": `${told.what} in words` })), element("div"));
      for (const other of failures.values()) other.open &&= "kept" in other.dataset;
      failures.set(key, made);
    }
    const whole = failures.get(key);
    const [head, ...parts] = whole.children, commands = parts.pop();
    head.textContent = `${told.what} (${told.of})`;
    parts.forEach((part, at) => draw(part, told.story[at] ?? [], ([tone, line]) => element("span", { class: tone }, `${line}\n`)));
    draw(commands, told.commands, ([what, command]) => commandLine(what, command));
    return whole;
  };
  const curve = (points) => {
    const last = Math.max(points.at(-1)[0], 1), most = Math.max(...points.map(([, met]) => met), 1);
    const corners = points.map(([steps, met]) => `${40 + 590 * (steps / last)},${150 - 130 * (met / most)}`);
    place("curve").setAttribute("points", corners.join(" "));
    say("most", most.toLocaleString("en"));
    say("last", `${points.at(-1)[0].toLocaleString("en")} steps`);
  };
  const show = (state) => {
    say("verdict", state.ruling);
    place("verdict").className = `verdict ${state.tone}`;
    const number = (count) => count.toLocaleString("en");
    say("paths", state.traces === null ? number(state.paths) : `${number(state.paths)} of ${number(state.traces)}`);
    for (const name of ["steps", "met", "failed", "kinds", "known", "undecided"]) {
      const label = place(name).nextElementSibling;
      label.dataset.many ??= label.textContent;
      label.textContent = state[name] === 1 ? label.dataset.many.replace(/s(?= |$)/u, "") : label.dataset.many;
      say(name, state[name] === null ? "not counted" : number(state[name]));
    }
    if (state.met !== null && state.states) say("met", `${number(state.met)} of ${number(state.states)}`);
    say("rate", state.rate.toLocaleString("en", { maximumFractionDigits: state.rate < 10 ? 1 : 0 }));
    say("passed", clock(state.seconds));
    say("left", state.done ? "done" : state.left === null ? "unknown" : `${state.bounds ? "at most" : "about"} ${clock(state.left)}`);
    place("left").nextElementSibling.textContent = state.bounds ? "left to shrink this failure" : "time left";
    say("now", state.done ? "" : state.now);
    draw(place("events"), state.events, (line) => `${line}\n`);
    draw(place("possible"), state.possible, (text) => element("li", {}, text));
    place("path").hidden = !state.events.length && !state.possible.length;
    // the newest is the first, and comes last here: it closes the others
    const shown = state.failures.toReversed().map(failure).reverse();
    if (shown.some((each, at) => each !== place("failures").children[at])) place("failures").replaceChildren(...shown);
    place("none").hidden = shown.length > 0;
    draw(place("commands"), state.commands, ([what, command]) => commandLine(what, command));
    document.title = state.tone ? `${state.ruling}: ${name}` : name;
    place("chart").hidden = state.met === null;
    curve(state.growth);
  };
  const lost = () => say("now", "The campaign has ended, or the tester is gone: these are its last figures.");
  let missed = 0;
  const ask = async () => {
    try {
      const state = await (await fetch(`state.json${location.search}`, { cache: "no-store" })).json();
      missed = 0;
      show(state);
      // the address has the report now
      if (state.done) { location.reload(); return; }
    } catch {
      missed += 1;
      if (missed > 2) { lost(); return; }
    }
    setTimeout(ask, 1000);
  };
  if (!inside) { ask(); return; }
  const state = JSON.parse(inside.textContent);
  show(state);
  if (!state.done && Date.now() / 1000 - state.at > 30) lost();
  if (!state.done) setTimeout(() => location.reload(), 3000);
})();
