"use strict";
// Sorting, searching and filtering. Without it the page still says everything.
(() => {
  const table = document.getElementById("students");
  if (!table) return;
  const body = table.tBodies[0], rows = [...body.rows];
  const key = (row, column) => {
    const cell = row.cells[column], number = cell.dataset.value;
    return number === undefined ? cell.textContent.toLowerCase() : Number(number);
  };
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      rows.sort((a, b) => {
        const x = key(a, column), y = key(b, column);
        return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1);
      });
      body.append(...rows);
    });
  });
  const search = document.getElementById("search"), lesson = document.getElementById("lesson");
  const which = document.getElementById("which"), count = document.getElementById("count");
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const detail = document.getElementById(row.dataset.detail);
      const text = (row.cells[0].textContent + " " + row.dataset.words).toLowerCase();
      const cell = row.cells[Number(lesson.value)];
      const open = Number(cell.dataset.value) < Number(cell.dataset.most);
      const fits = words.every((word) => text.includes(word)) &&
        (which.value === "all" || (which.value === "open") === open);
      row.hidden = !fits;
      if (detail) detail.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    count.textContent = shown + " of " + rows.length + " shown";
  };
  for (const field of [search, lesson, which]) field.addEventListener("input", show);
  show();
  const open = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target && target.tagName === "DETAILS") target.open = true;
  };
  addEventListener("hashchange", open);
  open();
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details:not([hidden])")) one.open = true;
  });
})();
