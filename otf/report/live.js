"use strict";
// A campaign while it runs. The page asks for figures once a second, or is loaded anew where it is a file.
(() => {
  const inside = document.getElementById("live-data");
  const place = (name) => document.getElementById(name);
  const say = (name, text) => { place(name).textContent = text; };
  const clock = (seconds) => (seconds < 60 ? `${Math.floor(seconds)} s` : `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")} min`);
  const listed = (name, texts) => place(name).replaceChildren(...texts.map((text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  }));
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
    for (const name of ["steps", "met", "kinds", "known", "undecided"]) {
      const label = place(name).nextElementSibling;
      label.dataset.many ??= label.textContent;
      label.textContent = state[name] === 1 ? label.dataset.many.replace(/s(?= |$)/u, "") : label.dataset.many;
      say(name, number(state[name]));
    }
    say("rate", state.rate.toLocaleString("en", { maximumFractionDigits: state.rate < 10 ? 1 : 0 }));
    say("passed", clock(state.seconds));
    say("left", state.done ? "done" : state.left === null ? "unknown" : `about ${clock(state.left)}`);
    say("now", state.now);
    listed("possible", state.possible);
    listed("failures", state.failures.length ? state.failures : ["none so far"]);
    place("story").replaceChildren(...state.story.map(([tone, line]) => {
      const shown = document.createElement("span");
      shown.className = tone;
      shown.textContent = `${line}\n`;
      return shown;
    }));
    place("story").hidden = !state.story.length;
    curve(state.growth);
  };
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
      if (missed > 2) { say("now", "The campaign has ended, or the tester is gone."); return; }
    }
    setTimeout(ask, 1000);
  };
  if (!inside) { ask(); return; }
  const state = JSON.parse(inside.textContent);
  show(state);
  if (!state.done) setTimeout(() => location.reload(), 3000);
})();
