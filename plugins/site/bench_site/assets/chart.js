// Draw curves as SVG: lines that can be pointed at, added and removed. Colours are those of the style sheet.
window.benchChart = (() => {
  "use strict";
  const { element } = window.benchTables;
  const COLOURS = 10; // as many as the style sheet has
  const NS = "http://www.w3.org/2000/svg";
  const svg = (name, attributes = {}, text = "") => {
    const made = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    return made;
  };
  // The ends of an interval, given as half its width or as both ends; without one, the value itself.
  const endsOf = (y, range) => (Array.isArray(range) ? range : [y - (range ?? 0), y + (range ?? 0)]);
  const short = (value) => String(Number(value.toPrecision(3)));
  const exact = (tick) => String(Number(tick.toPrecision(6)));

  // Distance from a point to a line segment.
  function between([ax, ay], [bx, by], [x, y]) {
    const [dx, dy] = [bx - ax, by - ay];
    const share = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
    return Math.hypot(ax + share * dx - x, ay + share * dy - y);
  }

  function ticksOf([low, high], log) {
    if (log) {
      const all = [];
      for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
        for (const step of [1, 2, 5]) all.push(step * 10 ** power);
      }
      return all.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
    }
    const raw = (high - low) / 6;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= raw);
    const ticks = [];
    for (let tick = Math.ceil(low / step) * step; tick <= high + step / 1e6; tick += step) ticks.push(tick);
    return ticks;
  }

  // spec: x, y (titles), lines [{name, title, page, kind, points [[x, y, range or null]], bold}], first (names), log, step, at,
  // level, bound (ends of intervals beyond are cut off), groups (methods to add are listed by kind), colours (names, in the order of the colours), unit, ticks, changed.
  function chart(place, spec) {
    const state = { log: spec.log ?? false, shown: [...spec.first], pointed: null };
    // A line keeps its colour; if another line has taken it, and for a new line, the first that no line has.
    const colours = new Map((spec.colours ?? spec.first).map((name, at) => [name, at % COLOURS]));
    const bar = element("div", { className: "bench-filters" });
    const area = element("div", { className: "bench-plot" });
    const tip = element("div", { className: "bench-tip", hidden: true });
    const legend = element("div", { className: "bench-legend" });
    place.replaceChildren(bar, area, legend);
    area.append(tip);
    const lineOf = (name) => spec.lines.find((line) => line.name === name);
    const colour = (name) => `var(--bench-c${colours.get(name)})`;
    function paint(name) {
      const taken = state.shown.map((one) => colours.get(one));
      if (colours.has(name) && !taken.includes(colours.get(name))) return;
      const free = [...Array(COLOURS).keys()].find((at) => !taken.includes(at));
      colours.set(name, free ?? state.shown.length % COLOURS);
    }

    for (const [label, log] of [["Linear", false], ["Log", true]]) {
      const button = element("button", { type: "button", className: "bench-button", textContent: label });
      button.addEventListener("click", () => { state.log = log; draw(); });
      bar.append(button);
    }

    function point(name) {
      state.pointed = name;
      area.classList.toggle("bench-pointed", name !== null);
      for (const group of area.querySelectorAll("g[data-line]")) {
        group.classList.toggle("bench-on", group.dataset.line === name);
      }
    }

    function drawLegend() {
      const rest = spec.lines.filter((line) => !state.shown.includes(line.name));
      const items = state.shown.filter(lineOf).map((name) => {
        const mark = element("span", { className: "bench-mark" });
        mark.style.background = colour(name);
        const line = lineOf(name);
        const title = line.title ?? name;
        const text = line.page ? element("a", { href: spec.up + line.page, textContent: title }) : element("span", { textContent: title });
        const gone = element("button", { type: "button", textContent: "×", ariaLabel: `Remove ${title}` });
        gone.addEventListener("click", () => { point(null); toggle(name, false); });
        const item = element("span", { className: "bench-item" }, mark, text, gone);
        item.addEventListener("pointerenter", () => point(name));
        item.addEventListener("pointerleave", () => point(null));
        item.addEventListener("focusin", () => point(name));
        return item;
      });
      if (rest.length) {
        const select = element("select", { ariaLabel: "Add a method" });
        const option = (line) => new Option(line.title ?? line.name, line.name);
        select.append(new Option("Add a method …", ""));
        for (const kind of spec.groups ? new Set(rest.map((line) => line.kind)) : []) {
          const group = element("optgroup", { label: kind });
          group.append(...rest.filter((line) => line.kind === kind).map(option));
          select.append(group);
        }
        if (!spec.groups) select.append(...rest.map(option));
        select.addEventListener("change", () => toggle(select.value, true));
        items.push(select);
      }
      legend.replaceChildren(...items);
    }

    function toggle(name, there) {
      state.shown = state.shown.filter((one) => one !== name);
      if (there) {
        paint(name);
        state.shown.push(name);
      }
      draw();
      spec.changed?.();
    }

    function draw() {
      [...bar.children].forEach((button, at) => button.setAttribute("aria-pressed", String(state.log === (at === 1))));
      drawLegend();
      const width = Math.max(280, place.clientWidth);
      const height = Math.min(440, Math.max(300, 0.6 * width));
      const [left, right, top, bottom] = [52, 12, 12, 44];
      const lines = state.shown.map(lineOf).filter((line) => line && line.points.length);
      const xs = lines.flatMap((line) => line.points.map((one) => one[0]));
      const ys = lines.flatMap((line) => line.points.flatMap(([, y, range]) => {
        const ends = endsOf(y, range);
        return spec.bound ? [y, Math.max(ends[0], Math.min(y, spec.bound[0])), Math.min(ends[1], Math.max(y, spec.bound[1]))] : ends;
      }));
      if (spec.level !== undefined) ys.push(spec.level);
      if (!lines.length) ys.push(0);
      const positive = xs.filter((x) => x > 0);
      const end = Math.max(...xs, spec.end ?? 0, 1e-9);
      const xRange = state.log ? [Math.max(Math.min(...positive, end / 10), end / 1e4), end] : [Math.min(0, ...xs), end];
      let [low, high] = [Math.min(...ys), Math.max(...ys)];
      if (spec.share) [low, high] = [Math.max(0, low), Math.min(100, high)];
      if (!(high > low)) [low, high] = [(low || 0) - 1, (high || 0) + 1];
      const pad = 0.05 * (high - low);
      const yRange = [low - pad, high + pad];
      const scale = (value) => (state.log ? Math.log10(Math.max(value, xRange[0])) : value);
      const px = (x) => left + ((scale(x) - scale(xRange[0])) / (scale(xRange[1]) - scale(xRange[0]) || 1)) * (width - left - right);
      const py = (y) => height - bottom - ((y - yRange[0]) / (yRange[1] - yRange[0])) * (height - top - bottom);
      const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img" });
      root.setAttribute("aria-label", place.getAttribute("aria-label") ?? spec.y);
      for (const tick of ticksOf(yRange, false)) {
        root.append(svg("line", { x1: left, x2: width - right, y1: py(tick), y2: py(tick), class: "bench-grid" }));
        root.append(svg("text", { x: left - 6, y: py(tick) + 4, "text-anchor": "end" }, exact(tick)));
      }
      const ticks = state.log && spec.ticks ? spec.ticks : ticksOf(xRange, state.log);
      const every = Math.max(1, Math.ceil((ticks.length * 42) / (width - left - right)));
      ticks.forEach((tick, at) => {
        if (at % every === 0) root.append(svg("text", { x: px(tick), y: height - bottom + 18, "text-anchor": "middle" }, exact(tick)));
      });
      root.append(svg("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle", class: "bench-title" },
        width < 420 ? spec.x.replace(/ of the price.*$/, " of full price") : spec.x));
      root.append(svg("text", { x: 14, y: (top + height - bottom) / 2, "text-anchor": "middle", class: "bench-title",
        transform: `rotate(-90 14 ${(top + height - bottom) / 2})` }, spec.y));
      if (spec.level !== undefined) {
        root.append(svg("line", { x1: left, x2: width - right, y1: py(spec.level), y2: py(spec.level), class: "bench-level" }));
      }
      if (spec.at) root.append(svg("line", { x1: px(spec.at), x2: px(spec.at), y1: top, y2: height - bottom, class: "bench-at" }));
      const clip = `bench-clip-${(chart.count = (chart.count ?? 0) + 1)}`;
      const box = svg("clipPath", { id: clip });
      box.append(svg("rect", { x: left, y: top, width: width - left - right, height: height - top - bottom }));
      root.append(box);
      const [spots, paths] = [[], []];
      for (const line of lines) {
        const group = svg("g", { "clip-path": `url(#${clip})`, style: `color:${colour(line.name)}` });
        group.dataset.line = line.name;
        if (line.bold) group.classList.add("bench-bold");
        const points = line.points.filter(([x]) => !state.log || x > 0 || line.points.length === 1);
        const free = state.log ? line.points.filter(([x]) => x <= 0).at(-1) : undefined;
        const path = free ? [[xRange[0], free[1], free[2]], ...points] : points;
        const stepped = spec.step ? [...path.flatMap(([x, y, h], at) => (at ? [[x, path[at - 1][1], path[at - 1][2]], [x, y, h]] : [[x, y, h]])),
          [end, path.at(-1)[1], path.at(-1)[2]]] : path;
        if (stepped.some(([, , half]) => half !== null && half !== undefined) && lines.length <= (spec.groups ? 12 : 8)) {
          const upper = stepped.map(([x, y, half]) => `${px(x)},${py(endsOf(y, half)[1])}`);
          const lower = stepped.map(([x, y, half]) => `${px(x)},${py(endsOf(y, half)[0])}`).reverse();
          group.append(svg("polygon", { points: [...upper, ...lower].join(" "), class: "bench-band" }));
        }
        group.append(svg("polyline", { points: stepped.map(([x, y]) => `${px(x)},${py(y)}`).join(" "), class: "bench-line" }));
        paths.push([line.name, stepped.map(([x, y]) => [px(x), py(y)])]);
        for (const [x, y, half] of path) {
          if (path.length <= 40) group.append(svg("circle", { cx: px(x), cy: py(y), r: 2.6, class: "bench-dot" }));
          spots.push([px(x), py(y), line.name, x, y, half]);
        }
        root.append(group);
      }
      area.replaceChildren(root, tip);
      root.addEventListener("pointermove", (event) => {
        const frame = root.getBoundingClientRect();
        const [mx, my] = [event.clientX - frame.left, event.clientY - frame.top];
        // The line nearest to the pointer, also between its dots, and its nearest dot.
        const name = paths.reduce((best, [line, path]) => {
          const distance = Math.min(...path.map((one, at) => between(path[Math.max(at - 1, 0)], one, [mx, my])));
          return distance < best[0] ? [distance, line] : best;
        }, [40, null])[1];
        const near = spots.filter((spot) => spot[2] === name).reduce((best, spot) => {
          const distance = Math.hypot(spot[0] - mx, spot[1] - my);
          return distance < best[0] ? [distance, spot] : best;
        }, [Infinity, null])[1];
        tip.hidden = !near;
        point(near ? near[2] : null);
        if (!near) return;
        const [sx, sy, , x, y, half] = near;
        const range = Array.isArray(half) ? ` [${half.map(short).join(", ")}]` : half === null || half === undefined ? "" : ` ± ${short(half)}`;
        tip.replaceChildren(element("b", { textContent: lineOf(name).title ?? name }), element("br"),
          `${spec.unit ?? "cost"} ${short(x)} · quality ${short(y)}${range}`);
        tip.style.left = `${Math.min(sx + 10, width - 190)}px`;
        tip.style.top = `${Math.max(0, sy - 52)}px`;
      });
      root.addEventListener("pointerleave", () => { tip.hidden = true; point(null); });
      place.dataset.drawn = "yes";
    }

    let last = 0;
    new ResizeObserver(() => {
      if (place.clientWidth && place.clientWidth !== last) { last = place.clientWidth; draw(); }
    }).observe(place);
    draw();
    last = place.clientWidth;
    return {
      state,
      toggle,
      update(changes) { Object.assign(spec, changes); draw(); },
    };
  }
  return chart;
})();
