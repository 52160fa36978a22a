// A click on a heading sorts its table by that column; a second one turns the order round.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const heading = button.closest("th"), at = heading.cellIndex, body = heading.closest("table").tBodies[0];
    const sign = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    const value = (row) => row.cells[at].dataset.v ?? row.cells[at].textContent;
    const order = (a, b) => {
      const x = value(a), y = value(b), numbers = x !== "" && y !== "" && !isNaN(x) && !isNaN(y);
      return sign * (numbers ? x - y : x.localeCompare(y));
    };
    body.append(...[...body.rows].sort(order));
  });
}
