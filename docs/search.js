// Who pastes an option looks for it: with its hyphens the search would leave out what has the word.
document.addEventListener("input", ({ target }) => {
  if (!target.matches?.("[data-md-component=search-query]")) return;
  const asked = target.value.replace(/(^|\s)-+/gu, "$1");
  if (asked !== target.value) target.value = asked;
}, true);
