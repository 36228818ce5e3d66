// A drawing of states: one stop for Tab, arrow keys from state to state, and its size.

const LEAST = 0.7; // below this size the text of a drawing cannot be read
const TOWARD = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// The nearest box in a direction: what lies aside counts twice.
function nearestBox(boxes, from, [dx, dy]) {
  const middle = (box) => { const { x, y, width, height } = box.getBBox(); return [x + width / 2, y + height / 2]; };
  const [x, y] = middle(from);
  let [best, least] = [null, Infinity];
  for (const box of boxes) {
    const [left, top] = middle(box);
    const [along, aside] = [(left - x) * dx + (top - y) * dy, Math.abs((left - x) * dy) + Math.abs((top - y) * dx)];
    if (along > 1 && along + 2 * aside < least) [best, least] = [box, along + 2 * aside];
  }
  return best;
}

// Of all boxes one can be reached by Tab; the arrow keys lead from there to the others.
function roveBoxes(drawn) {
  const boxes = [...drawn.querySelectorAll(".state")];
  const stop = (box) => boxes.forEach((each) => each.setAttribute("tabindex", each === box ? 0 : -1));
  stop(drawn.querySelector(".state.here") ?? boxes[0]);
  drawn.addEventListener("keydown", (event) => {
    const from = event.target.closest(".state");
    const to = from && TOWARD[event.key] && nearestBox(boxes, from, TOWARD[event.key]);
    if (!to) return;
    event.preventDefault();
    stop(to);
    to.focus();
  });
}

// Buttons that draw what is in a place larger, smaller, or so that all of it is seen.
function zoomTools(place) {
  // until a reader chooses otherwise, all of it is seen, as long as its text can be read
  let zoom = null;
  const size = () => zoom ?? Math.max(LEAST, fit());
  const apply = () => {
    const drawn = place.querySelector("svg");
    if (!drawn) return;
    const { width, height } = drawn.viewBox.baseVal;
    drawn.setAttribute("width", width * size());
    drawn.setAttribute("height", height * size());
  };
  const fit = () => {
    const whole = place.querySelector("svg")?.viewBox.baseVal;
    return whole ? Math.min(1, (place.clientWidth - 18) / whole.width, 540 / whole.height) : 1;
  };
  const button = (text, next) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", () => { zoom = Math.min(4, Math.max(0.1, next())); apply(); });
    return made;
  };
  return { apply, buttons: [button("larger", () => size() * 1.25), button("smaller", () => size() / 1.25), button("fit", fit)] };
}
