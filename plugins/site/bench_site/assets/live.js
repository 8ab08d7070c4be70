// The live picture of the home page: which method, at which budget, on which kind of data.
window.benchLive = (() => {
  "use strict";
  const { element } = window.benchTables;
  const SIZES = [["any size", () => true], ["up to 12 features", (one) => one.features <= 12],
    ["13 to 30 features", (one) => one.features > 12 && one.features <= 30], ["more than 30 features", (one) => one.features > 30],
    ["up to 500 rows", (one) => one.rows <= 500], ["more than 500 rows", (one) => one.rows > 500]];
  const LISTED = 8;
  const ENOUGH = 0.8; // a method counts where it has a number on this share of the data sets

  // Mean over data sets of the mean over a data set's prices; with half the width of its 95 % interval.
  function meanOf(sets, name, place) {
    const families = new Map();
    for (const one of sets) {
      const values = one.quality[name];
      if (values) families.set(one.family, [...(families.get(one.family) ?? []), values[place] ?? 0]);
    }
    const means = [...families.values()].map((all) => all.reduce((a, b) => a + b, 0) / all.length);
    const count = means.length;
    if (!count) return null;
    const mean = means.reduce((a, b) => a + b, 0) / count;
    const spread = Math.sqrt(means.reduce((sum, one) => sum + (one - mean) ** 2, 0) / Math.max(count - 1, 1));
    return { mean: 100 * mean, half: count > 2 ? (196 * spread) / Math.sqrt(count) : null, count };
  }

  // `shown` are drawn at first, beside the best of the others.
  function live(place, data, up, shown = []) {
    const choices = {
      task: [...new Set(data.sets.map((one) => one.task))],
      prices: ["all prices", ...new Set(data.sets.map((one) => one.prices))],
      size: SIZES.map(([title]) => title),
    };
    const chosen = { task: choices.task.includes("classification") ? "classification" : choices.task[0], prices: "all prices", size: SIZES[0][0] };
    let budget = Math.max(0, data.budgets.indexOf(20));
    const bar = element("div", { className: "bench-filters" });
    const words = { task: "Task", prices: "Prices", size: "Data" };
    for (const [key, options] of Object.entries(choices)) {
      const select = element("select", { name: key });
      select.append(...options.map((text) => new Option(text, text)));
      select.value = chosen[key];
      select.addEventListener("change", () => { chosen[key] = select.value; refresh(); });
      bar.append(element("label", {}, `${words[key]} `, select));
    }
    const range = element("input", { type: "range", name: "budget", min: 0, max: data.budgets.length - 1, value: budget, step: 1 });
    const said = element("output");
    range.addEventListener("input", () => { budget = Number(range.value); refresh(); });
    bar.append(element("label", { className: "bench-budget" }, "Budget ", range, said));
    const figure = element("div", { className: "bench-curve" });
    figure.setAttribute("aria-label", "Chance-corrected quality by budget, a line a method");
    const list = element("ol", { className: "bench-best" });
    const note = element("p", { className: "bench-note" });
    const heading = element("p", { className: "bench-best-title" });
    place.replaceChildren(bar, element("div", { className: "bench-live-body" }, figure, element("div", {}, heading, list)), note);

    function selected() {
      const fits = SIZES.find(([title]) => title === chosen.size)[1];
      return data.sets.filter((one) => one.task === chosen.task && (chosen.prices === "all prices" || one.prices === chosen.prices) && fits(one));
    }

    let drawn = null;
    function refresh() {
      const sets = selected();
      const families = new Set(sets.map((one) => one.family)).size;
      const lines = data.methods.map(({ name, page }) => {
        const all = data.budgets.map((x, at) => [x, meanOf(sets, name, at)]);
        const count = all[0][1]?.count ?? 0;
        const points = count >= ENOUGH * families && count ? all.map(([x, one]) => [x, one.mean, one.half]) : [];
        return { name, page, points, count, at: all[budget][1] };
      }).filter((line) => line.points.length);
      const best = [...lines].sort((a, b) => b.at.mean - a.at.mean);
      const share = data.budgets[budget];
      const named = data.recommended.filter(([at]) => at <= share).at(-1)?.[1];
      for (const line of lines) line.bold = shown.length ? shown.includes(line.name) : line.name === named;
      said.textContent = ` ${share} % of the price`;
      heading.textContent = families ? `Best at ${share} % of the price` : "No data set is of this kind";
      list.replaceChildren(...best.slice(0, LISTED).map(({ name, page, at }) => element("li", {},
        page ? element("a", { href: up + page, textContent: name }) : name, element("span", { textContent: ` ${at.mean.toFixed(1)}` }))));
      note.textContent = `${families} data sets, ${sets.length} with their prices. 0: answers without looking; 100: the best that may buy `
        + "everything (dashed). Bands: 95 % interval over data sets. Methods without a number on 80 % of these data sets are left out.";
      const first = [...new Set([...shown, ...data.first])].slice(0, Math.max(5, shown.length + 3)).filter((name) => lines.some((line) => line.name === name));
      if (drawn) {
        drawn.update({ lines, at: share });
        return;
      }
      drawn = window.benchChart(figure, { x: "Budget, % of the price of all features", y: "Quality, chance-corrected", lines, up,
        first: first.length ? first : best.slice(0, 5).map((line) => line.name), log: true, step: false, at: share, level: 100, end: 100 });
    }
    refresh();
    place.dataset.drawn = "yes";
  }
  return live;
})();
