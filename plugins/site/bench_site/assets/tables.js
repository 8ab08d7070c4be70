// Make tables sortable and searchable, and show the first rows of long ones.
window.benchTables = (() => {
  "use strict";
  const PAGE = 25; // a longer table shows this many rows at first
  const SEARCHED = 12; // a table with at least this many rows has a search field and lists to filter by
  const LONG = 24; // the text of a cell with more characters may wrap
  const FOLDED = 160; // a cell with more characters shows only its beginning at first
  const ONE_LINE = ["Dominated by"]; // a column at the end of wide tables: its lines would make high rows of blank space
  const CHOICES = [2, 80]; // a column whose number of different texts is in this range has a list to filter by

  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  // Parse numbers as the pages write them: "84.8 ± 6.6 ≈", "−1.2", "2 of 7". Other texts give null and sort last.
  const numberOf = (text) => {
    const found = /^[^\w−-]*([−-]?\d+(?:\.\d+)?(?:e[−+-]?\d+)?)/.exec(text.trim());
    return found ? parseFloat(found[1].replaceAll("−", "-")) : null;
  };

  // The text before a note in parentheses, or else before the end of a sentence or a part of it; at most FOLDED characters.
  function beginning(text) {
    const note = text.search(/ \((?=[A-Z])/);
    const end = note > 0 ? note : text.search(/[.;] /);
    const cut = text.lastIndexOf(" ", FOLDED);
    return text.slice(0, end > 0 && end <= FOLDED ? end : cut > 0 ? cut : FOLDED);
  }

  function fold(cell) {
    const text = cell.textContent.trim();
    const summary = element("summary", { textContent: `${beginning(text)} …` });
    cell.replaceChildren(element("details", { className: "bench-folded" }, summary, text));
  }

  // A table's rows as texts; `row.make` creates the element when it is first shown.
  function rowsOf(table) {
    const wraps = [...table.tHead.rows[0].cells].map((head) => !ONE_LINE.includes(head.textContent.trim()));
    return [...table.tBodies[0].rows].map((tr) => {
      const texts = [...tr.cells].map((cell) => cell.textContent.trim());
      for (const cell of [...tr.cells].filter((_, at) => wraps[at])) {
        const length = cell.textContent.trim().length;
        cell.classList.toggle("bench-long", length > LONG);
        if (length > FOLDED && !cell.children.length) fold(cell);
      }
      return { texts, make: () => tr };
    });
  }

  function columnsOf(heads, rows) {
    return heads.map((head, at) => {
      const filled = rows.map((row) => row.texts[at] ?? "").filter((text) => !["", "–", "never", "∞"].includes(text));
      const numeric = filled.length > 0 && filled.every((text) => numberOf(text) !== null);
      const texts = [...new Set(rows.map((row) => row.texts[at] ?? ""))];
      const listed = !numeric && texts.length >= CHOICES[0] && texts.length <= Math.min(CHOICES[1], rows.length / 2);
      return { name: head.textContent.trim(), numeric, choices: listed ? texts.sort((a, b) => a.localeCompare(b)) : [] };
    });
  }

  // Control a table by its rows: sort, search, filter, and show all.
  function control(table, rows, chosen = {}) {
    const heads = [...table.tHead.rows[0].cells];
    const columns = columnsOf(heads, rows);
    const body = table.tBodies[0];
    const state = { by: -1, sign: 1, query: "", chosen: { ...chosen }, all: false };
    const note = element("p", { className: "bench-note" });
    const more = element("button", { type: "button", className: "bench-button" });
    more.addEventListener("click", () => { state.all = !state.all; draw(); });

    function matching() {
      const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
      const wanted = Object.entries(state.chosen).filter(([, text]) => text !== "");
      const found = rows.filter((row) => {
        if (!wanted.every(([at, text]) => row.texts[at] === text)) return false;
        const whole = row.texts.join(" ").toLowerCase();
        return words.every((word) => whole.includes(word));
      });
      if (state.by < 0) return found;
      const { numeric } = columns[state.by];
      const key = (row) => (numeric ? numberOf(row.texts[state.by] ?? "") : row.texts[state.by] ?? "");
      const order = (a, b) => (numeric ? a - b : a.localeCompare(b));
      const last = (value) => value === null || value === "" || value === "–";
      return found.map((row) => [key(row), row]).sort(([a], [b]) => {
        if (last(a) || last(b)) return last(a) - last(b);
        return state.sign * order(a, b);
      }).map(([, row]) => row);
    }

    function draw() {
      const found = matching();
      const shown = state.all ? found : found.slice(0, PAGE);
      body.replaceChildren(...shown.map((row) => (row.element ??= row.make())));
      const hidden = found.length - shown.length;
      note.textContent = `${shown.length} of ${found.length} rows`;
      more.textContent = state.all ? `Show the first ${PAGE}` : `Show all ${found.length}`;
      more.hidden = !hidden && !(state.all && found.length > PAGE);
      table.dispatchEvent(new CustomEvent("bench-drawn", { detail: found }));
    }

    heads.forEach((head, at) => {
      if (!head.textContent.trim()) return; // a button needs a name
      const button = element("button", { type: "button", className: "bench-sort" }, ...head.childNodes);
      button.addEventListener("click", () => {
        state.sign = state.by === at ? -state.sign : 1;
        state.by = at;
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", state.sign > 0 ? "ascending" : "descending");
        draw();
      });
      head.replaceChildren(button);
    });

    const bar = element("div", { className: "bench-filters" });
    if (rows.length >= SEARCHED) {
      const field = element("input", { type: "search", placeholder: "Search", ariaLabel: "Search the table" });
      field.addEventListener("input", () => { state.query = field.value; draw(); });
      bar.append(field);
      columns.forEach(({ name, choices }, at) => {
        if (!choices.length) return;
        const select = element("select");
        select.append(new Option("all", ""), ...choices.map((text) => new Option(text.slice(0, 60), text)));
        select.value = state.chosen[at] ?? "";
        select.addEventListener("change", () => { state.chosen[at] = select.value; state.all = false; draw(); });
        bar.append(element("label", {}, `${name} `, select));
      });
    }
    const frame = element("div", { className: "bench-scroll", tabIndex: 0, role: "group", ariaLabel: "table" });
    table.classList.add("bench-table");
    table.replaceWith(frame);
    frame.append(table);
    if (bar.children.length) frame.before(bar);
    if (rows.length > PAGE) frame.after(element("div", { className: "bench-below" }, note, more));
    draw();
  }

  function makeTable(table) {
    if (!table.tHead || !table.tBodies[0] || table.tBodies[0].rows.length < 2) return;
    if (!table.tHead.textContent.trim()) return;
    control(table, rowsOf(table));
  }

  // The table of all results: a column for each metric that a shown row has a value of.
  function makeResults(place, data) {
    const heads = ["Data set", "Method", ...data.metrics, "Seeds", "Suite"];
    const last = heads.length - 1;
    const isText = (at) => at < 2 || at === last;
    const link = (text, href, title = "") => (href ? element("a", { href, title, textContent: text }) : text);
    const rows = data.rows.map(([dataset, method, suite, values, seeds]) => ({
      texts: [data.datasets[dataset][0], data.methods[method][0], ...data.metrics.map((_, at) => values[at] ?? ""),
        seeds, data.suites[suite][0]],
      make() {
        const links = { 0: data.datasets[dataset], 1: data.methods[method], [last]: data.suites[suite] };
        return element("tr", {}, ...this.texts.map((text, at) => element("td", {}, isText(at) ? link(...links[at]) : text || "–")));
      },
    }));
    const table = element("table", {},
      element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
      element("tbody"));
    place.replaceChildren(table);
    table.addEventListener("bench-drawn", ({ detail }) => {
      heads.forEach((head, at) => {
        const used = isText(at) || detail.some((row) => row.texts[at] !== "");
        for (const row of table.rows) if (row.cells[at]) row.cells[at].hidden = !used;
      });
    });
    control(table, rows, { [last]: data.suites[data.first]?.[0] ?? "" });
  }

  return { element, makeTable, makeResults };
})();
