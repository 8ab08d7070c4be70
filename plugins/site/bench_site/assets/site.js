// Start the tables, curves and the live picture of a page. Loaded at the end of every page.
(() => {
  "use strict";
  const HIGH = 6000; // in pixels: sections that end farther down are closed at first
  const root = new URL("../../", document.currentScript.src);
  const article = document.querySelector(".md-content__inner");

  const loaded = new Map();
  function load(key, source) {
    if (window.benchData?.[key]) return Promise.resolve(window.benchData[key]);
    if (!loaded.has(source)) {
      loaded.set(source, new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = new URL(source, root).href;
        script.onload = resolve;
        script.onerror = () => reject(new Error(`${source} cannot be loaded`));
        document.head.append(script);
      }));
    }
    return loaded.get(source).then(() => window.benchData[key]);
  }

  async function start(place) {
    const { key, src, up = "" } = place.dataset;
    const data = await load(key, src);
    if (place.classList.contains("bench-results")) window.benchTables.makeResults(place, data);
    else if (place.classList.contains("bench-live")) window.benchLive(place, data, up, JSON.parse(place.dataset.shown ?? "[]"));
    else {
      const shown = place.dataset.shown ? JSON.parse(place.dataset.shown) : data.first;
      window.benchChart(place, { ...data, first: shown, step: true, up });
    }
  }

  function makeData() {
    const places = [...document.querySelectorAll("[data-key][data-src]")];
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        seen.unobserve(entry.target);
        start(entry.target);
      }
    }, { rootMargin: "300px" });
    for (const place of places) seen.observe(place);
  }

  // Close the sections of a high page, so that its contents can be seen; a link to a heading opens its section.
  function foldSections() {
    if (!article || document.documentElement.scrollHeight < 1.5 * HIGH) return;
    const level = article.querySelectorAll(":scope > h2").length > 2 ? "H2" : "H3";
    const heads = [...article.querySelectorAll(`:scope > ${level}`)];
    const ends = [...heads.slice(1).map((head) => head.getBoundingClientRect().top + window.scrollY), document.documentElement.scrollHeight];
    heads.forEach((head, at) => {
      if (!at || ends[at] < HIGH) return;
      const section = document.createElement("details");
      section.className = "bench-section";
      const summary = document.createElement("summary");
      const rest = [];
      for (let next = head.nextSibling; next; next = next.nextSibling) {
        if (next.nodeType === 1 && /^H[1-6]$/.test(next.tagName) && next.tagName <= level) break;
        rest.push(next);
      }
      head.replaceWith(section);
      head.querySelector(".headerlink")?.remove(); // a link may not be inside the control that opens a section
      summary.append(head);
      section.append(summary, ...rest);
    });
    const open = () => {
      const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
      for (let one = target?.parentElement; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
      if (target) target.scrollIntoView();
    };
    window.addEventListener("hashchange", open);
    open();
  }

  for (const table of document.querySelectorAll(".md-content table:not(.highlighttable)")) window.benchTables.makeTable(table);
  foldSections();
  makeData();
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  for (const code of document.querySelectorAll(".md-content pre > code")) {
    if (code.scrollWidth > code.clientWidth) code.tabIndex = 0; // so that the keyboard can scroll it
  }
})();
