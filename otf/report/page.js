// Show the rows that contain all words of the search and have the chosen verdict.
for (const tools of document.querySelectorAll("[data-rows]")) {
  const rows = [...document.getElementById(tools.dataset.rows).tBodies[0].rows];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const [search, count] = [tools.querySelector("input"), tools.querySelector("output")];
  const choice = tools.querySelector("select");
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, at) => {
      const right = !choice || !choice.value || row.dataset.verdict === choice.value;
      row.hidden = !(right && words.every((word) => texts[at].includes(word)));
      shown += !row.hidden;
    });
    count.textContent = `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} shown`;
  };
  search.addEventListener("input", filter);
  if (choice) choice.addEventListener("change", filter);
  filter();
}
document.getElementById("theme").addEventListener("click", () => {
  const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
  document.documentElement.dataset.theme = dark ? "light" : "dark";
});
