"use strict";
// The theme puts a landmark without a name around the button of each block of code: it is no place to go to.
new MutationObserver(() => {
  for (const each of document.querySelectorAll(".md-code__nav:not([role])")) each.setAttribute("role", "none");
}).observe(document.body, { childList: true, subtree: true });
// What scrolls is scrolled by keys, too.
const SCROLLING = "pre > code, .drawing, .md-typeset__table";
function reached() {
  for (const each of document.querySelectorAll(SCROLLING)) {
    if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
    else each.removeAttribute("tabindex");
  }
}
addEventListener("load", reached);
addEventListener("resize", reached);
// A search leads to the message that has most of its words, and not only to the section of that message.
addEventListener("load", () => {
  const words = (new URLSearchParams(location.search).get("h") ?? "").toLowerCase().split(" ");
  const count = (text) => words.filter((word) => text.toLowerCase().includes(word)).length - text.length / 1e4;
  const found = [...document.querySelectorAll(".message")].map((each) => ({ id: each.id, count: count(each.textContent) }));
  const best = found.reduce((one, other) => (other.count > one.count ? other : one), { id: "", count: 1 });
  if (best.id) location.replace(`#${best.id}`);
});
