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
