"use strict";
// The states of a model, walked by clicking. Every text is set as text: values come from the tested system.
(async () => {
  const place = document.getElementById("states-walk");
  if (!place) return;
  const [FEW, DRAWN, NEAR, LISTED, ACROSS, WIDE, LINES, TOKEN, NAMED, FRAME, HIGH, SPARE] = [20, 80, 8, 100, 4, 26, 4, 40, 16, 600, 540, 40];
  const many = (count) => count.toLocaleString("en");
  const make = (name, attributes, ...inner) => element(name, attributes, ...inner.flat().filter((part) => part !== null));
  const svg = (name, attributes, ...inner) => drawing(name, attributes, ...inner.flat());

  // --- the data: columns of numbers, and the texts that they mean
  const packed = Uint8Array.from(atob(document.getElementById("states-data").textContent), (char) => char.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const data = JSON.parse(await new Response(unpacked).text());
  const size = data.states.length, arcs = data.source.length;
  const visited = data.visited && new Set(data.visited), went = data.went && new Set(data.went);
  const failed = new Set((data.failed || []).map(([state, input]) => `${state} ${input}`));
  const places = data.kinds.map((kind) => new Map(kind.fields.map((field, at) => [field, at + 1])));
  const number = (state, field) => {
    const row = data.states[state], at = places[row[0]].get(field);
    return at === undefined ? -1 : row[at];
  };
  const value = (state, field) => (number(state, field) < 0 ? "none" : data.texts[number(state, field)]);
  const kind = (state) => data.kinds[data.states[state][0]].name;
  const fields = (state) => data.kinds[data.states[state][0]].fields;
  const named = (field) => data.fields[field].split(".").pop();
  const pair = (state, field) => (data.fields[field] ? `${named(field)}=${value(state, field)}` : value(state, field));
  const whole = (state) => [kind(state), ...fields(state).map((field) => pair(state, field))].filter(Boolean).join(" ");
  const differing = (state, other) => {
    const both = new Set([...fields(state), ...fields(other)]);
    const told = [...both].filter((field) => number(state, field) !== number(other, field) && number(state, field) >= 0);
    return [...(kind(state) === kind(other) ? [] : [kind(state)]), ...told.map((field) => changed(field, value(other, field), value(state, field)))];
  };
  // Of a long value only what is new in it: what both have at the beginning and at the end is left out.
  const changed = (field, old, now) => {
    const name = data.fields[field] ? `${named(field)}=` : "";
    if (now.length <= WIDE || old === "none") return name + now;
    const [was, is] = [tokens(old), tokens(now)];
    let first = 0, last = 0;
    while (first < was.length && was[first] === is[first]) first++;
    while (last < Math.min(was.length, is.length) - first && was.at(-1 - last) === is.at(-1 - last)) last++;
    const [lost, fresh] = [was, is].map((all) => all.slice(first, all.length - last).join("").trim());
    return name + (fresh ? `… ${fresh} …` : `… without ${lost}`);
  };
  const tokens = (text) => text.match(/[^\s,(){}[\]=]*[\s,(){}[\]=]+|[^\s,(){}[\]=]+/g) || [""];
  const input = (arc) => (data.input[arc] < 0 ? "(spontaneous)" : data.inputs[data.input[arc]]);
  const taken = (arc) => `${input(arc)} / ${data.outputs[data.output[arc]]}${data.times[arc] || ""}`;
  const begin = new Int32Array(size + 2), end = new Int32Array(size + 2);
  for (let arc = 0; arc < arcs; arc++) end[data.source[arc] + 1]++;
  for (let state = 0; state <= size; state++) end[state + 1] += end[state];
  const ordered = new Int32Array(arcs), into = Array.from({ length: size }, () => []);
  begin.set(end);
  for (let arc = 0; arc < arcs; arc++) {
    ordered[begin[data.source[arc]]++] = arc;
    if (data.target[arc] >= 0) into[data.target[arc]].push(arc);
  }
  const from = (state) => ordered.subarray(end[state], end[state + 1]);
  const parent = new Int32Array(size).fill(-2);
  if (size) parent[0] = -1;
  for (let queue = size ? [0] : [], at = 0; at < queue.length; at++) {
    for (const arc of from(queue[at])) {
      const target = data.target[arc];
      if (target >= 0 && parent[target] === -2) { parent[target] = arc; queue.push(target); }
    }
  }
  const way = (state) => {
    const found = [];
    for (let at = state; parent[at] >= 0; at = data.source[parent[at]]) found.push(parent[at]);
    return found.reverse();
  };
  // The parts that no transition leaves, smaller than the whole (Tarjan's algorithm); a bound may have cut a way out.
  const closedParts = () => {
    const [index, low, done] = [0, 0, 0].map(() => new Int32Array(size).fill(-1)), cut = new Set(data.marks["cut by a bound"]);
    const stack = [], calls = [], parts = [];
    let count = 0;
    const enter = (state) => { index[state] = low[state] = count++; stack.push(state); calls.push([state, 0]); };
    for (let root = 0; root < size; root++) {
      if (index[root] < 0) enter(root);
      while (calls.length) {
        const call = calls.at(-1), [state, next] = call, out = from(state);
        if (next < out.length) {
          const target = data.target[out[next]];
          call[1]++;
          if (target >= 0 && index[target] < 0) enter(target);
          else if (target >= 0 && done[target] < 0) low[state] = Math.min(low[state], index[target]);
          continue;
        }
        calls.pop();
        if (calls.length) low[calls.at(-1)[0]] = Math.min(low[calls.at(-1)[0]], low[state]);
        if (low[state] !== index[state]) continue;
        const part = new Set(stack.splice(stack.lastIndexOf(state)));
        for (const each of part) done[each] = 1;
        if ([...part].every((each) => !cut.has(each) && from(each).every((arc) => part.has(data.target[arc])))) parts.push([...part].sort((one, other) => one - other));
      }
    }
    return parts.filter((part) => part.length < size);
  };

  // --- labels: only what differs, broken between tokens
  // a member of an enum by its name
  const brief = (text) => text.replace(/<([\w.]+): (?:'[^']*'|[\w.]+)>/gu, "$1");
  const broken = (parts) => {
    const lines = [];
    for (const part of parts.map(brief)) {
      let line = "";
      for (const token of tokens(part)) {
        const short = token.length > TOKEN ? `${token.slice(0, TOKEN - 1)}…` : token;
        if (line && line.length + short.trimEnd().length > WIDE) { lines.push(line.trimEnd()); line = ""; }
        line += short;
      }
      lines.push(line.trimEnd());
    }
    return lines.length > LINES ? [...lines.slice(0, LINES - 1), `… ${lines.length - LINES + 1} more lines`] : lines;
  };
  const varying = (states) => {
    const all = new Set(states.flatMap(fields));
    // one that is the same wherever it is follows from the type
    return [...all].filter((field) => new Set(states.map((state) => number(state, field)).filter((each) => each >= 0)).size > 1);
  };

  // --- drawings: rows by distance, few crossings, never more boxes than can be read
  const layout = (nodes, edges, most) => {
    const near = nodes.map(() => new Set());
    for (const edge of edges) { near[edge.from].add(edge.to); near[edge.to].add(edge.from); }
    const rows = [];
    nodes.forEach((node, at) => { (rows[node.row] ||= []).push(at); });
    const filled = rows.filter(Boolean), position = [];
    const note = (row) => row.forEach((at, index) => { position[at] = (index + 0.5) / row.length; });
    filled.forEach(note);
    for (let sweep = 0; sweep < 8; sweep++) {
      for (const row of filled) {
        const middle = new Map(row.map((at) => [at, [...near[at]].reduce((sum, each) => sum + position[each], 0) / (near[at].size || 1)]));
        row.sort((one, other) => middle.get(one) - middle.get(other));
        note(row);
      }
    }
    return filled.flatMap((row) => {
      const count = Math.ceil(row.length / most);
      return Array.from({ length: count }, (_, line) => row.slice(line * most, (line + 1) * most));
    });
  };
  const STRETCHES = [1, 1.5, 2.2, 3.2];
  // A drawing that is larger than its frame anyway is higher still if its arrows have no room for their words.
  const drawn = (nodes, edges, label) => (nodes.length > FEW ? STRETCHES : [1]).reduce((found, stretch) => {
    if (found && !bare) return found;
    const before = found ? bare : Infinity, made = drawnAt(nodes, edges, label, stretch);
    if (bare < before) return made;
    bare = before;
    return found;
  }, null);
  const drawnAt = (nodes, edges, label, stretch) => {
    for (const node of nodes) {
      node.wide = Math.max(...node.lines.map((line) => line.length)) * 7.4 + 20;
      node.high = node.lines.length * 16 + 14;
    }
    // no wider than the frame at the smallest size that can be read
    const widest = Math.max(...nodes.map((node) => node.wide)), room = pane.clientWidth > SPARE ? pane.clientWidth - SPARE / 2 : FRAME;
    const lines = layout(nodes, edges, Math.max(1, Math.min(ACROSS, Math.floor(room / LEAST / (widest + SPARE)))));
    const columns = Math.max(...lines.map((line) => line.length));
    const few = edges.length <= NAMED, longest = Math.max(0, ...edges.map((edge) => length(edge.says)));
    const spare = Math.max(SPARE, Math.min(110, room / columns - widest));
    const across = widest + (few ? Math.min(longest * (columns > 3 ? 4 : 7) + SPARE, Math.max(spare, room / LEAST / columns - widest)) : spare);
    const high = Math.max(...nodes.map((node) => node.high));
    // a few rows fill the frame; of more, there is room between two for the words of their arrows
    const filling = HIGH / Math.max(LEAST, Math.min(1, room / columns / across)) / lines.length - high;
    const said = edges.reduce((sum, edge) => sum + 14 * edge.says.length * length(edge.says) * 6.8, 0) / columns / across / lines.length;
    const down = high + stretch * Math.max(few ? 70 : 96, Math.min(200, filling), Math.min(260, 4 * said));
    lines.forEach((line, row) => line.forEach((at, column) => {
      nodes[at].x = (column + 0.5 + (columns - line.length) / 2) * across;
      nodes[at].y = (row + 0.5) * down;
    }));
    // a loop at the right has its words beside it
    const loops = edges.filter((edge) => few && edge.from === edge.to).map(({ from: at, says }) => nodes[at].x + nodes[at].wide / 2 + 32 + length(says) * 6.8);
    const [width, height] = [Math.max(columns * across, ...loops), lines.length * down];
    const arrows = edges.sort((one, other) => one.rank - other.rank).map((edge) => arrow(nodes[edge.from], nodes[edge.to], edge, few));
    const group = { class: "states", viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": label };
    const told = words(nodes, edges, width);
    bare = edges.length - told.length;
    return svg("svg", group, arrows, nodes.map(box), told.flat());
  };
  const length = (texts) => Math.max(...texts.map((text) => text.length));
  // The inputs of each arrow, somewhere along it where they lie on nothing else; shorter, or left out, where all is full.
  const words = (nodes, edges, width) => {
    const full = nodes.map((node) => [node.x - node.wide / 2, node.y - node.high / 2, node.x + node.wide / 2, node.y + node.high / 2]);
    const free = ([left, top, right, bottom]) => left >= 0 && right <= width && full.every(([l, t, r, b]) => right < l || left > r || bottom < t || top > b);
    return edges.toReversed().flatMap((edge) => {
      for (const texts of [edge.says, edge.brief]) {
        const half = length(texts) * 3.4 + 3, high = 14 * texts.length + 2;
        for (let at = 0; at < 36; at++) {
          const [x, y] = edge.at(0.5 + (at % 2 ? -0.0125 : 0.0125) * at, half), here = [x - half, y - 2 - high / 2, x + half, y - 2 + high / 2];
          if (!free(here)) continue;
          full.push(here);
          const back = svg("rect", { x: here[0], y: here[1], width: 2 * half, height: high, class: "back" });
          const lines = texts.map((text, line) => svg("tspan", { x, y: here[1] + 12 + 14 * line }, text));
          return [[back, svg("text", { "text-anchor": "middle", class: "word" }, svg("title", {}, edge.title), lines)]];
        }
      }
      return [];
    });
  };
  const box = (node) => {
    const top = node.y - node.high / 2;
    // its title is its name
    const made = svg("g", { class: `state ${node.kind}`, tabindex: -1, role: "button" },
      svg("title", {}, node.title),
      svg("rect", { x: node.x - node.wide / 2, y: top, width: node.wide, height: node.high, rx: 8 }),
      node.lines.map((line, at) => svg("text", { x: node.x, y: top + 19 + 16 * at, "text-anchor": "middle" }, line)));
    made.addEventListener("click", node.go);
    made.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); node.go(); }
    });
    return made;
  };
  const border = (node, x, y) => {
    const [dx, dy] = [x - node.x, y - node.y];
    const share = Math.min(dx ? node.wide / 2 / Math.abs(dx) : 1e9, dy ? node.high / 2 / Math.abs(dy) : 1e9);
    return [node.x + dx * share, node.y + dy * share];
  };
  const arrow = (source, target, edge, few) => {
    let line, head;
    if (source === target) {
      const [x, y] = [source.x + source.wide / 2, source.y];
      [line, head] = [`M${x} ${y - 9}c22 -12 22 30 0 18`, `M${x} ${y + 9}l9 1l-4 -7z`];
      // beside the loop, or else under its box or above it
      edge.at = (share, half) => {
        const off = share - 0.5, away = Math.sign(off) * (source.high / 2 + 12 + 120 * (Math.abs(off) - 0.2));
        return Math.abs(off) < 0.2 ? [x + 22 + half, y + 2 + 80 * off] : [x + 22 - half, y + away];
      };
    } else {
      const long = Math.hypot(target.x - source.x, target.y - source.y);
      const [dx, dy] = [(target.x - source.x) / long, (target.y - source.y) / long];
      // of a few arrows, one that would lead through boxes passes beside them
      const beside = few && long > 2 * source.high + 120 && Math.abs(dx) < 0.1 ? source.wide + 60 : 22;
      const [x, y] = [(source.x + target.x) / 2 - dy * beside, (source.y + target.y) / 2 + dx * beside];
      const [x1, y1] = border(source, x, y), [x2, y2] = border(target, x, y);
      const away = Math.hypot(x2 - x, y2 - y) || 1, [ux, uy] = [(x2 - x) / away, (y2 - y) / away];
      edge.at = (share) => [[x1, x, x2], [y1, y, y2]].map(([one, by, other]) => (1 - share) ** 2 * one + 2 * share * (1 - share) * by + share ** 2 * other);
      line = `M${x1} ${y1}Q${x} ${y} ${x2} ${y2}`;
      head = `M${x2} ${y2}L${x2 - 9 * ux - 4 * uy} ${y2 - 9 * uy + 4 * ux}L${x2 - 9 * ux + 4 * uy} ${y2 - 9 * uy - 4 * ux}z`;
    }
    return svg("g", { class: edge.kind }, svg("title", {}, edge.title), svg("path", { d: line, class: "line" }), svg("path", { d: head, class: "head" }));
  };
  // Where all inputs are of one type, its name would be the same at each arrow; without the names of fields, more is seen.
  const head = (text) => text.split("(")[0] || text;
  const alike = data.inputs.length > 1 && new Set(data.inputs.map(head)).size === 1 ? `${head(data.inputs[0])}(` : "";
  const argued = (text) => {
    const inside = alike && text.startsWith(alike) ? text.slice(alike.length, -1) : text;
    return alike || inside.length > WIDE ? inside.replace(/(?<=(?:^|[(,]) ?)\w+=/gu, "") : inside;
  };
  // One input in two lines; of many the first that have room, or their types, and how many more there are.
  const two = (text) => {
    const lines = broken([text]);
    return lines.length > 2 ? [lines[0], `${lines[1]} …`] : lines;
  };
  const several = (inputs, heads) => {
    const texts = inputs.join(", ").length > 2 * WIDE && heads.length > 1 ? heads : inputs, apart = alike ? "; " : ", ";
    let shown = texts.length;
    const said = () => [...texts.slice(0, shown), ...(shown < texts.length ? [`${texts.length - shown} more`] : [])].join(apart);
    while (shown > 1 && said().length > 2 * WIDE - 8) shown--;
    return two(said());
  };
  const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 2)} …` : text);
  // All transitions between two boxes are one arrow.
  const edgesOf = (group, of) => {
    const found = new Map();
    for (const state of group) {
      for (const arc of from(state)) {
        const [one, other] = [of.get(state), data.target[arc] < 0 ? undefined : of.get(data.target[arc])];
        if (other === undefined) continue;
        const key = `${one} ${other}`;
        if (!found.has(key)) found.set(key, { from: one, to: other, arcs: [] });
        found.get(key).arcs.push(arc);
      }
    }
    return [...found.values()].map((edge) => {
      const asked = edge.arcs.filter((arc) => data.input[arc] >= 0), seen = went ? asked.filter((arc) => went.has(arc)).length : 0;
      const bad = edge.arcs.some((arc) => failed.has(`${data.source[arc]} ${data.input[arc]}`));
      edge.kind = bad ? "failed" : !asked.length ? "spontaneous" : !went ? "plain" : seen === asked.length ? "visited" : seen ? "partly" : "unvisited";
      // words are placed in this order: those at the failure first, then those at this state
      edge.rank = (bad ? 2 : 0) + (edge.from === of.get(here) || edge.to === of.get(here) ? 1 : 0);
      const ways = [...new Set(edge.arcs.slice(0, 400).map(taken))];
      const inputs = [...new Set(edge.arcs.slice(0, 400).map((arc) => brief(input(arc))))], heads = [...new Set(inputs.map(head))];
      const [first, ...others] = inputs.map(argued);
      edge.says = others.length ? several([first, ...others], heads) : two(first);
      edge.brief = [cut(alike && first !== "(spontaneous)" ? first : heads.join(", "), WIDE / 2)];
      edge.title = [went ? `${seen} of ${asked.length} visited` : `${edge.arcs.length} transition${edge.arcs.length === 1 ? "" : "s"}`, ...ways.slice(0, 20), ...(ways.length > 20 ? ["… and more"] : [])].join("\n");
      return edge;
    });
  };
  const marked = (state) => `${visited ? (visited.has(state) ? "visited" : "unvisited") : "plain"}${state === 0 ? " first" : ""}${state === here ? " here" : ""}`;
  // With `beside`, each state but that one is labelled by what differs from it.
  const boxes = (states, rows, beside = -1) => {
    const vary = varying(states), kinds = new Set(states.map(kind)).size > 1;
    const of = new Map(states.map((state, at) => [state, at]));
    const nodes = states.map((state, at) => {
      const apart = beside < 0 || state === beside || kind(state) !== kind(beside) ? [] : differing(state, beside);
      const shown = apart.length ? apart : fields(state).filter((field) => !vary.length || vary.includes(field)).map((field) => pair(state, field));
      const parts = [...((kinds && !apart.length) || !shown.length ? [kind(state)] : []), ...shown].filter(Boolean);
      return { lines: broken(parts.length ? parts : ["(no fields)"]), title: `state ${state}: ${whole(state)}`, kind: marked(state), row: rows[at], go: () => go(state) };
    });
    return [nodes, edgesOf(states, of)];
  };
  const spread = (start, next, most) => {
    const row = new Map(start.map((state) => [state, 0])), queue = [...start];
    for (let at = 0; at < queue.length; at++) {
      for (const other of next(queue[at])) {
        if (row.has(other)) continue;
        if (row.size >= most) return row;
        row.set(other, row.get(queue[at]) + 1);
        queue.push(other);
      }
    }
    return row;
  };
  const targets = (state) => [...from(state)].map((arc) => data.target[arc]).filter((target) => target >= 0);

  const VIEWS = {
    around: () => {
      const ahead = [...new Set(targets(here))].filter((state) => state !== here);
      const behind = [...new Set(into[here].map((arc) => data.source[arc]))].filter((state) => state !== here && !ahead.includes(state));
      // nothing comes before the start
      const near = pane.clientWidth < FRAME - 2 * SPARE ? NEAR / 2 : NEAR; // on a phone there is room for four
      const [above, below] = here ? [behind.slice(0, near / 2), ahead.slice(0, near)] : [[], [...ahead, ...behind].slice(0, near)];
      const states = [here, ...above, ...below], rows = [1, ...above.map(() => 0), ...below.map(() => 2)];
      const left = behind.length + ahead.length - above.length - below.length;
      const [nodes, edges] = boxes(states, rows, here), own = edges.filter((edge) => edge.from === 0 || edge.to === 0);
      return [nodes, own, `only the arrows of this state${left ? `; ${left} more neighbours are in the lists` : ""}`];
    },
    everything: () => bounded([...spread([0], targets, DRAWN + 1)], size, "states"),
    visited: () => {
      const known = (state) => targets(state).filter((each) => visited.has(each));
      const row = visited.has(0) ? spread([0], known, DRAWN + 1) : new Map();
      return bounded([...row], visited.size, "visited states");
    },
    fields: () => {
      const by = chosen(), keys = new Map(), groups = [];
      const of = new Map();
      for (let state = 0; state < size; state++) {
        const key = by.map((field) => (field < 0 ? kind(state) : number(state, field))).join(" ");
        if (!keys.has(key)) { keys.set(key, groups.length); groups.push([]); }
        groups[keys.get(key)].push(state);
        of.set(state, keys.get(key));
      }
      const most = Math.min(groups.length, DRAWN), shown = new Map([...of].filter(([, group]) => group < most));
      const edges = edgesOf([...shown.keys()], shown), next = new Map(groups.map((_, at) => [at, []]));
      for (const edge of edges) next.get(edge.from).push(edge.to);
      const row = spread([0], (group) => next.get(group), most);
      const nodes = groups.slice(0, most).map((states, at) => {
        const parts = by.map((field) => (field < 0 ? kind(states[0]) : pair(states[0], field)));
        const count = `${states.length} state${states.length === 1 ? "" : "s"}`;
        const seen = !visited ? "plain" : states.some((state) => visited.has(state)) ? "visited" : "unvisited";
        const mark = `${seen}${at === 0 ? " first" : ""}${states.includes(here) ? " here" : ""}`;
        return { lines: [...broken(parts).slice(0, LINES), count], title: [...parts, count].join(" "), kind: mark, row: row.get(at) ?? 99, go: () => { among = new Set(states); go(states[0]); } };
      });
      return [nodes, edges, groups.length > most ? `the first ${most} of ${groups.length} groups` : `${groups.length} groups`];
    },
  };
  const bounded = (row, all, what) => {
    const shown = row.slice(0, DRAWN);
    if (!shown.length) return [[], [], `no ${what}`];
    return [...boxes(shown.map(([state]) => state), shown.map(([, at]) => at)), all > shown.length ? `the nearest ${many(shown.length)} of ${many(all)} ${what}` : ""];
  };

  // --- the page
  // where a path failed is what a reader looks for
  const start = data.failed && data.failed.length ? data.failed[0][0] : 0;
  // the walk: transitions from the initial state to `here`
  let bare = 0; // arrows of the drawing without words
  let here = start, walk = way(start), among = null;
  const view = make("select", { id: "states-view" });
  const names = { around: "around this state", everything: size > DRAWN ? "from the start" : "all states", visited: "visited states", fields: "grouped by fields" };
  for (const name of Object.keys(VIEWS)) if (name !== "visited" || visited) view.append(make("option", { value: name }, names[name]));
  const used = [...new Set(data.kinds.flatMap((each) => each.fields))];
  const manyKinds = new Set(data.states.map((row) => row[0])).size > 1;
  const offered = [...(manyKinds ? [-1] : []), ...used.filter((field) => data.fields[field] && data.states.some((_, state) => number(state, field) !== number(0, field)))];
  const ticks = offered.map((field) => make("input", { type: "checkbox", value: field, checked: (data.by || []).includes(field) }));
  const chosen = () => ticks.filter((tick) => tick.checked).map((tick) => Number(tick.value));
  const choices = make("span", { class: "choices" }, offered.map((field, at) => make("label", {}, ticks[at], field < 0 ? "type" : data.fields[field])));
  const [pane, remark] = [make("div", { class: "drawing", tabindex: 0, "aria-label": "drawing of states", role: "region" }), make("span", { class: "soft", role: "status" })];
  const zoom = zoomTools(pane);
  // who comes to the frame by Tab goes on among its boxes
  pane.addEventListener("keydown", (event) => {
    if (event.target !== pane || !TOWARD[event.key]) return;
    event.preventDefault();
    pane.querySelector(".state[tabindex='0']")?.focus();
  });
  const search = make("input", { type: "search", id: "states-search", autocomplete: "off" });
  const [list, count, panel] = [make("ul", { class: "list" }), make("output", { class: "soft", "aria-live": "polite" }), make("div", { class: "panel", "aria-live": "polite" })];
  const pick = (states) => { among = states && new Set(states); search.value = ""; if (states) go(states[0]); else filter(); };
  const all = make("button", { type: "button", click: () => pick(null) }, "all states");
  const kept = {
    ...data.marks,
    "a path failed": [...new Set((data.failed || []).map(([state]) => state))],
    "not visited": visited ? [...data.states.keys()].filter((state) => !visited.has(state)) : [],
    "the outputs decide what follows": [...new Set(data.source.filter((_, arc) => data.target[arc] === -1))],
    ...Object.fromEntries((data.whole ? closedParts() : []).slice(0, NEAR).map((part) => [`no way out, from state ${part[0]} on`, part])),
  };
  const picks = Object.entries(kept).filter(([, states]) => states.length).map(([word, states]) => make("button", { type: "button", click: () => pick(states) }, `${word}: ${many(states.length)}`));
  place.append(
    make("div", { class: "tools" }, make("label", {}, "draw ", view), choices, zoom.buttons, remark, make("span", { class: "soft keys" }, "Keys in the drawing: ↑ ↓ ← → another box, Enter goes there")),
    make("div", { class: "walk" }, pane, panel),
    make("div", { class: "found" }, make("div", { class: "tools" }, make("label", {}, "search ", search), all, picks, count), list));

  const picture = () => {
    choices.hidden = view.value !== "fields";
    const [nodes, edges, said] = VIEWS[view.value]();
    const focused = pane.contains(document.activeElement) && document.activeElement !== pane;
    pane.replaceChildren(...(nodes.length ? [drawn(nodes, edges, `${names[view.value]}: ${nodes.length} boxes`)] : []));
    const unsaid = bare ? `${bare} arrow${bare === 1 ? " has" : "s have"} no room for ${bare === 1 ? "its" : "their"} inputs: point at one, or go to its state` : "";
    remark.textContent = [said, unsaid, alike && `each input is a ${alike}…)`].filter(Boolean).join("; ");
    zoom.apply();
    if (nodes.length) roveBoxes(pane.firstChild);
    if (focused) pane.querySelector(".state.here")?.focus({ preventScroll: true });
    const middle = pane.querySelector(".here rect")?.getBoundingClientRect(), frame = pane.getBoundingClientRect();
    if (middle && (middle.left < frame.left || middle.right > frame.right)) pane.scrollBy(middle.left - frame.left - frame.width / 3, 0);
    if (middle && (middle.top < frame.top || middle.bottom > frame.bottom)) pane.scrollBy(0, middle.top - frame.top - frame.height / 3);
  };
  const texts = [];
  const filter = () => {
    const words = search.value.toLowerCase().replace(/['"]/gu, "").split(/\s+/).filter(Boolean);
    const right = (state) => (!among || among.has(state)) && words.every((word) => (texts[state] ||= `${state} ${whole(state)}`.toLowerCase().replace(/['"]/gu, "")).includes(word));
    const rows = [];
    let found = 0;
    for (let state = 0; state < size; state++) {
      if (!right(state)) continue;
      found++;
      if (rows.length < LISTED) rows.push(make("li", {}, step(state, `${state}: ${whole(state)}`)));
    }
    list.replaceChildren(...rows);
    count.textContent = `${many(found)} of ${many(size)} states${found > rows.length ? `, the first ${many(rows.length)} are listed` : ""}`;
  };
  const step = (state, text) => make("button", { type: "button", class: state === here ? "to here" : "to", click: () => go(state) }, text);
  const toward = (arc) => {
    const target = data.target[arc];
    if (target < 0) return target === -1 ? "the outputs decide" : "beyond the bound";
    const text = target === data.source[arc] ? "stays" : `${target}: ${differing(target, data.source[arc]).join(" ") || whole(target)}`;
    return make("button", { type: "button", class: "to", click: () => visit(target, [...walk, arc]) }, text);
  };
  // The walk as lines that `otf step` reads: an input by its name, with its outputs, or by its number: what tells it apart.
  const lines = (steps, live) => steps.filter((arc) => !live || data.input[arc] >= 0).map((arc) => {
    const ways = [...from(data.source[arc])], alike = ways.filter((other) => data.input[other] === data.input[arc]);
    if (live || alike.length === 1) return input(arc);
    return alike.filter((other) => data.output[other] === data.output[arc]).length === 1 ? `${input(arc)}  ->  ${data.outputs[data.output[arc]]}` : String(ways.indexOf(arc) + 1);
  });
  const piped = (steps, live) => `printf '%s\\n' ${lines(steps, live).map((text) => `'${text.replaceAll("'", "'\\''")}'`).join(" ")} | ${data.command}${live ? " --live" : ""}`;
  const table = (heads, rows) => make("table", {}, make("thead", {}, make("tr", {}, heads.map((head) => make("th", { scope: "col" }, head)))), make("tbody", {}, rows));
  const row = (kind, ...cells) => make("tr", { class: kind }, cells.map((cell) => make("td", {}, cell)));
  const describe = () => {
    const before = walk.length ? data.source[walk.at(-1)] : -1;
    const marks = [here === 0 ? "initial" : "", visited ? (visited.has(here) ? "visited" : "not visited") : "", (data.failed || []).some(([state]) => state === here) ? "a path failed here" : "", ...Object.entries(data.marks).filter(([, states]) => states.includes(here)).map(([word]) => word)];
    const shown = fields(here).map((field) => {
      const differs = before >= 0 && number(before, field) !== number(here, field);
      return row(differs ? "changed" : "", data.fields[field] || "state", make("code", {}, value(here, field)), differs ? `was ${value(before, field)}` : "");
    });
    const out = [...from(here)], ahead = out.slice(0, 2 * LISTED).map((arc) => {
      const kind = failed.has(`${here} ${data.input[arc]}`) ? "failed" : went && data.input[arc] >= 0 ? (went.has(arc) ? "visited" : "not visited") : "";
      return row(kind === "failed" ? "fail" : "", make("code", {}, input(arc)), make("code", {}, `${data.outputs[data.output[arc]]}${data.times[arc] || ""}`), toward(arc), ...(went ? [kind] : []));
    });
    const back = into[here].filter((arc) => data.source[arc] !== here), own = !same(walk, way(here));
    const to = (steps, text, disabled = false) => make("button", { type: "button", class: "to", disabled, click: () => visit(steps.length ? data.target[steps.at(-1)] : 0, steps) }, text);
    const passed = walk.map((arc, at) => make("li", {}, make("code", {}, `${taken(arc)} `), to(walk.slice(0, at + 1), `${data.target[arc]}: ${differing(data.target[arc], data.source[arc]).join(" ")}`)));
    const onward = out.filter((arc) => data.target[arc] >= 0);
    // who walks by keys goes on where they were
    const held = panel.contains(document.activeElement) ? document.activeElement.textContent : null;
    panel.replaceChildren(...[
      make("h3", { tabindex: -1 }, `State ${many(here)} of ${many(size)}: ${kind(here)}`), make("p", { class: "soft" }, marks.filter(Boolean).join(", ") || "\u00a0"),
      shown.length ? table(["field", "value", "before"], shown) : null, make("h3", {}, "From here"),
      out.some((arc) => data.target[arc] === -1) ? make("p", { class: "doubt" }, "Where the outputs decide, only a run can tell the next state: this page ends there", data.command ? [", and ", make("code", {}, `${data.command} --live`), " goes on"] : null, ".") : null,
      out.length > ahead.length ? make("p", { class: "soft" }, `the first ${ahead.length} of ${out.length} transitions`) : null,
      !out.length ? make("p", {}, "No transition leaves it.") : make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "transitions from here" }, table(["input", "outputs", "leads to", ...(went ? ["visited"] : [])], ahead)),
      make("h3", {}, own ? "The way you took" : "The shortest way here"),
      parent[here] === -2 ? make("p", {}, "No transition that is shown leads here.") : make("ol", { class: "way" }, passed),
      walk.length ? null : make("p", { class: "soft" }, here === 0 ? "This is the initial state." : ""),
      make("div", { class: "tools" }, to(walk.slice(0, -1), "one step back", !walk.length), own ? to(way(here), "the shortest way") : null,
        make("button", { type: "button", disabled: !onward.length, click: () => { const arc = onward[Math.floor(Math.random() * onward.length)]; visit(data.target[arc], [...walk, arc]); } }, "any step")),
      data.command && walk.length ? make("details", {}, make("summary", {}, "Keep this way"), make("p", { class: "soft" }, "Its address leads here again. In a shell:"),
        commandLine("walk it in the model", piped(walk, false)), commandLine(`drive the system along it, with a trace${walk.some((arc) => data.input[arc] < 0) ? " (it does not wait for what comes by itself)" : ""}`, piped(walk, true))) : null,
      make("details", {}, make("summary", {}, `Reached from (${back.length})`), make("ul", { class: "list" }, back.slice(0, LISTED).map((arc) => make("li", {}, step(data.source[arc], `${data.source[arc]}: ${taken(arc)}`))))),
    ].filter(Boolean));
    if (held !== null) ([...panel.querySelectorAll(".tools button:not(:disabled)")].find((each) => each.textContent === held) ?? panel.firstChild).focus({ preventScroll: true });
  };
  const show = () => { describe(); picture(); filter(); };
  const same = (one, other) => one.length === other.length && one.every((arc, at) => arc === other[at]);
  // To a state on a way: the address has the number of each step, unless it is the shortest way.
  const visit = (state, steps) => {
    const numbers = steps.map((arc) => from(data.source[arc]).indexOf(arc) + 1).join(".");
    const address = `#state-${state}${same(steps, way(state)) ? "" : `/${numbers}`}`;
    if (address === location.hash) show(); else location.hash = address;
  };
  const go = (state) => {
    const arc = state === here ? undefined : [...from(here)].find((other) => data.target[other] === state);
    if (state === here) show(); else visit(state, arc === undefined ? way(state) : [...walk, arc]);
  };
  const follow = () => {
    const found = /^#state-(\d{1,9})(?:\/([\d.]{1,9999}))?$/.exec(location.hash), at = found ? Number(found[1]) : start;
    if ((location.hash && !found) || at >= size) return;
    const steps = [];
    let state = 0;
    for (const number of found?.[2]?.split(".") ?? []) {
      const arc = from(state)[number - 1];
      if (arc === undefined || data.target[arc] < 0) break;
      steps.push(arc);
      state = data.target[arc];
    }
    [here, walk] = [at, steps.length && state === at ? steps : way(at)];
    show();
  };
  for (const each of [view, ...ticks]) each.addEventListener("change", picture);
  search.addEventListener("input", filter);
  addEventListener("hashchange", follow);
  view.value = data.by ? "fields" : size <= FEW ? "everything" : "around";
  if (!size) { place.replaceChildren("There are no states."); return; }
  show();
  follow();
  place.dataset.ready = "yes";
})();
