// The live picture: what a share of the price buys, by kind of method and by method, on which kind of data.
window.benchLive = (() => {
  "use strict";
  const { element } = window.benchTables;
  const SIZES = [["any size", () => true], ["up to 20 features", (one) => one.features <= 20],
    ["more than 20 features", (one) => one.features > 20], ["up to 1,000 rows", (one) => one.rows <= 1000],
    ["more than 1,000 rows", (one) => one.rows > 1000]];
  const FEW = 5; // with fewer independent data sets, the comparison recommends nothing
  const ALL = "all prices";
  const EVERYTHING = "everything or nothing"; // its line is 0 below the whole price
  const BOUND = [-20, 130]; // ends of bands beyond are cut off

  const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;

  // A family's value at a budget: the mean over its data sets of the mean over their cost schemes; NaN where it is missing.
  function familyValues(sets, what, count, at) {
    const families = new Map();
    for (const one of sets) {
      if (!families.has(one.family)) families.set(one.family, new Map());
      const datasets = families.get(one.family);
      datasets.set(one.dataset, [...(datasets.get(one.dataset) ?? []), one]);
    }
    return [...families.values()].map((datasets) => Array.from({ length: count }, (_, place) =>
      mean([...datasets.values()].map((costs) => mean(costs.map((one) => one[what][place]?.[at] ?? NaN))))));
  }

  // Means over families, relative to the methods that every family has, as the comparison computes them (draws.py).
  function meansOf(data, sets, what, at) {
    const methods = familyValues(sets, "methods", data.methods.length, at);
    const complete = data.methods.map((_, place) => place).filter((place) => methods.every((values) => !Number.isNaN(values[place])));
    if (!methods.length || !complete.length) return data[what].map(() => null);
    const bases = methods.map((values) => mean(complete.map((place) => values[place])));
    const rows = what === "methods" ? methods : familyValues(sets, what, data[what].length, at);
    return data[what].map((_, place) => {
      const own = rows.map((values, family) => values[place] - bases[family]).filter((gap) => !Number.isNaN(gap));
      return own.length && 2 * own.length >= rows.length ? mean(own) + mean(bases) : null;
    });
  }

  // The family without which the mean of one of these kinds changes most at a budget, and the means of all kinds without it.
  function mostInfluential(data, sets, at, kinds) {
    const means = meansOf(data, sets, "kinds", at);
    return [...new Set(sets.map((one) => one.family))].map((family) => {
      const without = meansOf(data, sets.filter((one) => one.family !== family), "kinds", at);
      return { family, without, change: Math.max(...kinds.map((place) => Math.abs(without[place] - means[place]) || 0)) };
    }).reduce((most, one) => (one.change > most.change ? one : most), { change: 0 });
  }

  // Values of kinds or methods at each budget, in percent: [value, [low, high] or null], or null.
  function valuesOf(data, view, sets, what, whole) {
    const percent = ([value, low, high]) => [100 * value, low === null ? null : [100 * low, 100 * high]];
    if (whole) return data[what].map((_, place) => view?.[what][place]?.map(percent) ?? null);
    const table = data.budgets.map((_, at) => meansOf(data, sets, what, at));
    return data[what].map((_, place) => (table.every((row) => row[place] !== null) ? table.map((row) => [100 * row[place], null]) : null));
  }

  // `shown` are methods that are drawn at first, beside the kinds.
  function live(place, data, up, shown = []) {
    const choices = {
      task: [...new Set(data.sets.map((one) => one.task))],
      prices: [ALL, ...new Set(data.sets.map((one) => one.prices))],
      size: SIZES.map(([title]) => title),
    };
    const chosen = { task: choices.task[0], prices: ALL, size: SIZES[0][0] };
    let budget = Math.max(0, data.budgets.indexOf(20));
    const bar = element("div", { className: "bench-filters" });
    const words = { task: "Task", prices: "Prices", size: "Data" };
    for (const [key, options] of Object.entries(choices)) {
      const select = element("select", { name: key });
      select.append(...options.map((text) => new Option(text, text)));
      select.value = chosen[key];
      select.addEventListener("change", () => { chosen[key] = select.value; offer(key); refresh(); });
      bar.append(element("label", {}, `${words[key]} `, select));
    }
    const range = element("input", { type: "range", name: "budget", min: 0, max: data.budgets.length - 1, value: budget, step: 1 });
    const said = element("output");
    range.addEventListener("input", () => { budget = Number(range.value); refresh(); });
    bar.append(element("label", { className: "bench-budget" }, "Budget ", range, said));
    const figure = element("div", { className: "bench-curve" });
    figure.setAttribute("aria-label", "Quality by budget, a line for each kind of method");
    const list = element("ol", { className: "bench-best" });
    const note = element("p", { className: "bench-note" });
    const heading = element("p", { className: "bench-best-title" });
    place.replaceChildren(bar, element("div", { className: "bench-live-body" }, figure, element("div", {}, heading, list)), note);

    const setsOf = ({ task, prices, size }) => data.sets.filter((one) => one.task === task && (prices === ALL || one.prices === prices)
      && SIZES.find(([title]) => title === size)[1](one));

    // Disable what has no data set with the choices to its left, and replace such a choice to the right of what has changed.
    function offer(changed) {
      const known = { ...chosen, prices: ALL, size: SIZES[0][0] };
      let after = false;
      for (const select of bar.querySelectorAll("select")) {
        const key = select.name;
        for (const option of select.options) option.disabled = !setsOf({ ...known, [key]: option.value }).length;
        if (after && select.selectedOptions[0].disabled) select.value = chosen[key] = choices[key][0];
        known[key] = chosen[key];
        after ||= key === changed;
      }
    }

    let drawn = null;
    const open = new Set(shown.map((name) => data.methods.find((one) => one.name === name)?.kind));

    function linesNow() {
      const sets = setsOf(chosen);
      const view = data.views.find((one) => one.task === chosen.task && one.prices === chosen.prices);
      const whole = chosen.size === SIZES[0][0];
      const lead = view?.recommended[budget];
      const lines = [];
      for (const what of ["kinds", "methods"]) {
        valuesOf(data, view, sets, what, whole).forEach((values, at) => {
          if (!values) return;
          const { name, page = "", kind = name, read = "" } = data[what][at];
          lines.push({ name: what === "kinds" ? `kind: ${name}` : name, title: name, page, kind, read, method: what === "methods",
            values: values.map(([value]) => value), points: values.map(([value, ends], b) => [data.budgets[b], value, ends]),
            bold: shown.length ? shown.includes(name) && what === "methods" : what === "kinds" && name === lead?.kind });
        });
      }
      return { lines, sets, lead: whole ? lead : null, whole };
    }

    function entry(line) {
      const box = element("input", { type: "checkbox", checked: drawn.state.shown.includes(line.name), ariaLabel: `Draw ${line.title}` });
      box.dataset.line = line.name;
      box.addEventListener("change", () => drawn.toggle(line.name, box.checked));
      const name = line.page ? element("a", { href: up + line.page, textContent: line.title }) : element("span", { textContent: line.title, title: line.read });
      return [box, " ", name, element("span", { className: "bench-value", textContent: ` ${line.values[budget].toFixed(1)}` })];
    }

    // Kinds by their quality at the budget, and their methods below them.
    function drawList(lines) {
      const better = (a, b) => b.values[budget] - a.values[budget];
      const kinds = lines.filter((line) => !line.method).sort(better);
      const empty = lines.filter((line) => line.method && !kinds.some((kind) => kind.title === line.kind));
      list.replaceChildren(...kinds.map((kind) => {
        const mine = lines.filter((line) => line.method && line.kind === kind.title).sort(better);
        const [box, ...name] = entry(kind); // beside the summary, because a control may not be inside another
        const part = element("details", { open: open.has(kind.title) }, element("summary", {}, ...name),
          element("ul", {}, ...mine.map((line) => element("li", {}, ...entry(line)))));
        part.addEventListener("toggle", () => (part.open ? open.add(kind.title) : open.delete(kind.title)));
        return element("li", {}, box, part);
      }), ...empty.map((line) => element("li", { className: "bench-alone" }, ...entry(line))));
    }

    // What the two best kinds would have without the data set that changes the means most.
    function influence(lines, sets) {
      const best = lines.filter((line) => !line.method).sort((a, b) => b.values[budget] - a.values[budget]).slice(0, 2);
      const places = best.map(({ title }) => data.kinds.findIndex((kind) => kind.name === title));
      const { family, without } = mostInfluential(data, sets, budget, places);
      const told = best.map(({ title, values }, at) => [title, without?.[places[at]] ?? null, values[budget]])
        .filter(([, less]) => less !== null).map(([title, less, all]) => `${title} ${(100 * less).toFixed(1)} instead of ${all.toFixed(1)}`);
      return told.length ? `${family} changes these means most. Without it: ${told.join(", ")}. ` : "";
    }

    function refresh() {
      const { lines, sets, lead, whole } = linesNow();
      const families = new Set(sets.map((one) => one.family)).size;
      const share = data.budgets[budget];
      said.textContent = ` ${share} % of the price`;
      heading.textContent = !families ? "No data set is of this kind" : lead ? `Recommended at ${share} % of the price: ${lead.method}` : `At ${share} % of the price`;
      if (whole && families && families < FEW) heading.textContent += ". Fewer than five data sets: nothing is recommended";
      note.textContent = `${data.splits} ${families} data set${families === 1 ? "" : "s"}, ${sets.length} with their prices. 0: the empty policy; 100: the better of the reference `
        + `methods with all features (dashed); above 100: better than it. ${influence(lines, sets)}Of the methods of a kind, the best on a random half of the data sets is judged on the other half. `
        + (whole ? "Bands: 95 % intervals over data sets and splits. " : "Intervals are given for data of any size only. ")
        + "Left out: methods and kinds that are missing on more than half of these data sets.";
      if (drawn) {
        drawn.update({ lines, at: share });
      } else {
        const kinds = lines.filter((line) => !line.method && line.title !== EVERYTHING).map((line) => line.name);
        const first = [...shown, ...kinds];
        drawn = window.benchChart(figure, { x: "Budget, % of the price of all features", y: "Quality, chance-corrected", lines, up, unit: "budget",
          first: first.filter((name) => lines.some((line) => line.name === name)), log: true, step: false, ticks: data.budgets, at: share, level: 100, end: 100,
          colours: [...data.kinds.map((kind) => `kind: ${kind.name}`), ...shown], bound: BOUND, groups: true, changed: () => drawList(linesNow().lines) });
      }
      drawList(lines);
    }
    offer("");
    refresh();
    place.dataset.drawn = "yes";
  }
  return live;
})();
