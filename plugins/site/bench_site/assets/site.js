// Make tables sortable and searchable, and draw curves in the page's colour scheme. Loaded at the end of every page.
(() => {
  "use strict";
  const here = document.currentScript.src;
  const PAGE = 25; // a table with more rows is divided into pages
  const SEARCHED = 6; // a table with at least so many rows has a search field
  const LONG = 40; // the text of a cell with more characters may wrap
  const FOLDED = 240; // a cell with more characters shows its beginning only, until it is opened
  const CHOICES = [2, 80]; // a column with so many different texts has a list to filter by

  const isDark = () => document.body.getAttribute("data-md-color-scheme") === "slate";

  // Parse numbers as the pages write them: "84.8 ± 6.6 ≈", "−1.2", "2 of 7". Other texts give null and sort last.
  const numberOf = (text) => {
    const found = /^[^\w−-]*([−-]?\d+(?:\.\d+)?(?:e[−+-]?\d+)?)/.exec(text.trim());
    return found ? parseFloat(found[1].replaceAll("−", "-")) : null;
  };

  function fold(cell) {
    const text = cell.textContent.trim();
    const details = document.createElement("details");
    details.className = "bench-folded";
    const summary = document.createElement("summary");
    const cut = text.lastIndexOf(" ", LONG);
    summary.textContent = `${text.slice(0, cut > 0 ? cut : LONG)} …`;
    details.append(summary, text);
    cell.replaceChildren(details);
  }

  function prepare(table) {
    const rows = [...table.tBodies[0].rows];
    const heads = [...table.tHead.rows[0].cells];
    for (const row of rows) {
      for (const cell of row.cells) {
        cell.classList.toggle("bench-long", cell.textContent.trim().length > LONG);
        if (cell.textContent.trim().length > FOLDED && !cell.children.length) fold(cell);
      }
    }
    heads.forEach((head, column) => {
      const cells = rows.map((row) => row.cells[column]).filter(Boolean);
      const filled = cells.filter((cell) => !["", "–", "never", "∞"].includes(cell.textContent.trim()));
      const numbers = filled.map((cell) => numberOf(cell.textContent));
      if (filled.length && numbers.every((value) => value !== null)) {
        for (const cell of cells) cell.dataset.order = numberOf(cell.textContent) ?? 1e300;
      }
    });
    return heads;
  }

  function addFilters(api, heads, rows) {
    const bar = document.createElement("div");
    bar.className = "bench-filters";
    heads.forEach((head, column) => {
      const texts = [...new Set(rows.map((row) => row.cells[column]?.textContent.trim() ?? ""))];
      const numeric = rows.some((row) => row.cells[column]?.dataset.order !== undefined);
      if (/^At \d/.test(head.textContent)) return; // these cells hold a method and a number
      if (numeric || texts.length < CHOICES[0] || texts.length > CHOICES[1] || texts.length > rows.length / 2) return;
      const label = document.createElement("label");
      const select = document.createElement("select");
      select.append(new Option("all", ""));
      for (const text of texts.sort((a, b) => a.localeCompare(b))) select.append(new Option(text, text));
      select.addEventListener("change", () => {
        api.column(column).search(select.value, { exact: select.value !== "" }).draw();
      });
      label.append(`${head.textContent.trim()} `, select);
      bar.append(label);
    });
    if (bar.children.length) api.table().container().prepend(bar);
  }

  function makeTable(table) {
    const rows = [...(table.tBodies[0]?.rows ?? [])];
    if (!table.tHead || rows.length < 2 || !table.tHead.textContent.trim()) return;
    const heads = prepare(table);
    const paged = rows.length > PAGE;
    const DataTable = window.benchTables.default;
    const api = new DataTable(table, {
      paging: paged,
      pageLength: PAGE,
      lengthMenu: [10, 25, 50, 100],
      searching: rows.length >= SEARCHED,
      info: paged,
      order: [],
      autoWidth: false,
      layout: {
        topStart: paged ? "pageLength" : null,
        topEnd: rows.length >= SEARCHED ? "search" : null,
        bottomStart: paged ? "info" : null,
        bottomEnd: paged ? "paging" : null,
      },
    });
    if (rows.length >= 2 * SEARCHED) addFilters(api, heads, rows);
    // Put the table into a frame that scrolls sideways, also by keyboard.
    const frame = document.createElement("div");
    frame.className = "bench-scroll";
    frame.tabIndex = 0;
    frame.setAttribute("role", "region");
    frame.setAttribute("aria-label", "table");
    table.replaceWith(frame);
    frame.append(table);
  }

  // Curves.

  function themed(figure, width) {
    const dark = isDark();
    const ink = dark ? "#e6edf3" : "#1f2329";
    const grid = dark ? "#2f3742" : "#d9dee4";
    const data = figure.data.map((trace) => {
      const colour = dark ? trace.meta.dark : trace.meta.light;
      const line = { ...trace.line, color: colour };
      if (trace.meta.band) {
        const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
        return { ...trace, line, fillcolor: trace.fill ? `rgba(${r},${g},${b},0.14)` : undefined };
      }
      return { ...trace, line, marker: { ...trace.marker, color: colour } };
    });
    const axis = (given) => ({ ...given, gridcolor: grid, linecolor: grid, tickcolor: grid, fixedrange: false });
    const longest = Math.max(4, ...data.filter((t) => t.showlegend !== false).map((t) => t.name.length));
    const count = data.filter((trace) => trace.showlegend !== false).length;
    const columns = Math.max(1, Math.floor(width / (7 * longest + 55)));
    const layout = {
      ...figure.layout,
      height: 380 + 20 * Math.ceil(count / columns),
      font: { color: ink, family: "system-ui, sans-serif", size: 12 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      hoverlabel: { bgcolor: dark ? "#161b22" : "#ffffff", bordercolor: grid, font: { color: ink } },
      xaxis: axis(figure.layout.xaxis),
      yaxis: axis(figure.layout.yaxis),
    };
    layout.updatemenus = layout.updatemenus.map((menu) => ({
      ...menu,
      font: { color: ink },
      bgcolor: dark ? "#161b22" : "#ffffff",
      bordercolor: grid,
    }));
    const title = layout.yaxis.title.text;
    const fitted = width < 500 ? title.replace(/ \(.*$/, "") : title.replaceAll(" (", "<br>(");
    layout.yaxis.title = { ...layout.yaxis.title, text: fitted };
    return [data, layout];
  }

  async function draw(place) {
    const figure = place.figure;
    const [data, layout] = themed(figure, place.clientWidth);
    const type = place.layout?.xaxis?.type;
    if (type) layout.xaxis.type = type; // keep the reader's choice when the scheme changes
    layout.updatemenus[0].active = type === "log" ? 1 : 0;
    await window.Plotly.react(place, data, layout, {
      responsive: true,
      displaylogo: false,
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
      displayModeBar: place.clientWidth > 600 ? "hover" : false,
    });
    place.dataset.drawn = isDark() ? "dark" : "light";
  }

  function loadPlotly() {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = new URL("plotly.min.js", here).href;
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
    });
  }

  async function makeCurves() {
    const places = [...document.querySelectorAll(".bench-curve")];
    if (!places.length) return;
    for (const place of places) {
      const holder = place.querySelector("script");
      place.figure = JSON.parse(holder.textContent);
      holder.remove();
    }
    await loadPlotly();
    const seen = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (!entry.isIntersecting) continue;
          seen.unobserve(entry.target);
          draw(entry.target);
        }
      },
      { rootMargin: "400px" },
    );
    for (const place of places) seen.observe(place);
    new MutationObserver(() => {
      for (const place of places) if (place.dataset.drawn) draw(place);
    }).observe(document.body, { attributes: true, attributeFilter: ["data-md-color-scheme"] });
  }

  function followScheme() {
    document.documentElement.dataset.theme = isDark() ? "dark" : "light"; // DataTables' style depends on this
    document.documentElement.classList.toggle("dark", isDark());
  }

  followScheme();
  new MutationObserver(followScheme).observe(document.body, {
    attributes: true,
    attributeFilter: ["data-md-color-scheme"],
  });
  for (const table of document.querySelectorAll(".md-content table:not(.highlighttable)")) makeTable(table);
  makeCurves();
})();
