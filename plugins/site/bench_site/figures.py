"""Trade-off curves as Plotly figures: steps with bands, with colours for light and dark pages."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from bench_leaderboard import MUTED, Curve, Panel, has_band, style_of, themed

from bench_site.sources import SHARES, drawn, ranked

__all__ = ["curve_figure", "drawn_at_first"]

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_DIGITS = 4
_MOST_BANDS = 8
_MOST_CURVES = 12
_BEST = 3


def drawn_at_first(panel: Panel) -> set[str]:
    """Return the methods whose curves are visible at first: all, or the best three at each share if there are many."""
    if len(panel.curves) <= _MOST_CURVES:
        return {curve.method for curve in panel.curves}
    largest = panel.largest if panel.cost != "cost" else 1.0
    methods = {place.method for share in SHARES for place in ranked(panel, share * largest)[:_BEST]}
    return methods or {curve.method for curve in panel.curves}


def curve_figure(panel: Panel, order: Mapping[str, int], shown: Collection[str] | None = None) -> str:
    """Return a panel's figure as Plotly's JSON.

    Every trace's ``meta`` holds its colours on light and dark pages, which the page's script applies.

    Args:
        panel: the curves.
        order: method → its index in the suite, which determines its colour and dash.
        shown: the methods to draw, with one more line for the best of all others; None: all methods.
    """
    scale = 100.0 if panel.quality.percent else 1.0
    across = 100.0 if panel.cost == "cost" else panel.largest
    right = across * max((float(curve.cost.max()) for curve in panel.curves), default=1.0)
    own = [curve for curve in panel.curves if shown is None or curve.method in shown]
    figure = go.Figure()
    bands = len(own) <= _MOST_BANDS
    first = drawn_at_first(panel) if shown is None else {curve.method for curve in own}
    for curve in own:
        _draw(figure, curve, order.get(curve.method, 0), (across, scale, right), bands, panel.quality.percent)
        if curve.method not in first:
            figure.data[-1].visible = "legendonly"
    rest = [curve for curve in panel.curves if curve not in own]
    if rest:
        _draw_best(figure, panel, rest, (across, scale, right))
    direction = "more is better" if panel.quality.goal == "max" else "less is better"
    quality = _name(panel.quality.title) + (" %" if panel.quality.percent else "")
    cost = "Mean cost, % of the price of all features" if panel.cost == "cost" else f"Mean {_name(panel.cost)}"
    figure.update_layout(
        template="none",
        hovermode="closest",
        uirevision="reader",  # keeps the reader's zoom and hidden curves when the colour scheme changes
        margin={"l": 8, "r": 8, "t": 48, "b": 8},
        xaxis={"title": {"text": cost}, "automargin": True, "zeroline": False},
        yaxis={"title": {"text": f"{quality} ({direction})"}, "automargin": True, "zeroline": False},
        legend={"orientation": "h", "x": 0, "y": -0.22, "yanchor": "top"},
        showlegend=True,
        updatemenus=[
            {
                "type": "buttons",
                "direction": "right",
                "x": 0,
                "xanchor": "left",
                "y": 1.02,
                "yanchor": "bottom",
                "pad": {"r": 0, "t": 0},
                "showactive": True,
                "buttons": [
                    {"label": "Linear", "method": "relayout", "args": [{"xaxis.type": "linear"}]},
                    {"label": "Log", "method": "relayout", "args": [{"xaxis.type": "log"}]},
                ],
            }
        ],
    )
    # Escape "<", so that no name can close the element that holds the JSON.
    return str(figure.to_json()).replace("<", "\\u003c")


def _draw(figure: Any, curve: Curve, place: int, scale: tuple[float, float, float], band: bool, share: bool) -> None:
    steps = drawn(curve)
    x, y, margin = scale[0] * curve.cost[steps], scale[1] * curve.quality[steps], scale[1] * curve.margin[steps]
    x, y, margin = (np.append(values, values[-1:]) for values in (x, y, margin))
    x[-1] = max(x[-1], scale[2])
    colour = _colours(style_of(place).colour)
    shape = {"shape": "hv", "width": 2, "dash": _DASHES[place % len(_DASHES)], "color": colour["light"]}
    if band and has_band(curve):
        low, high = y - margin, y + margin
        if share:
            low, high = np.clip(low, 0, 100), np.clip(high, 0, 100)
        edge = {"shape": "hv", "width": 0, "color": colour["light"]}
        for values, fill in ((low, None), (high, "tonexty")):
            figure.add_scatter(
                x=_round(x), y=_round(values), mode="lines", line=edge, fill=fill, fillcolor=_faint(colour["light"]),
                legendgroup=curve.method, showlegend=False, hoverinfo="skip", name=_name(curve.method),
                meta={**colour, "band": True},
            )  # fmt: skip
    texts = ["" if np.isnan(half) else f" ± {half:.2g}" for half in margin]
    figure.add_scatter(
        x=_round(x), y=_round(y), mode="lines+markers", line=shape, marker={"size": 5, "color": colour["light"]},
        name=_name(curve.method), legendgroup=curve.method, text=texts, meta=colour,
        hovertemplate="<b>%{fullData.name}</b><br>cost %{x:.4~g}<br>quality %{y:.4~g}%{text}<extra></extra>",
    )  # fmt: skip


def _draw_best(figure: Any, panel: Panel, rest: list[Curve], scale: tuple[float, float, float]) -> None:
    """Draw the best quality of some methods at every cost, as one line."""
    pick = np.fmax if panel.quality.goal == "max" else np.fmin
    grid = np.unique(np.concatenate([curve.cost[drawn(curve)] for curve in rest]))
    best = np.full(len(grid), np.nan)
    for curve in rest:
        steps = drawn(curve)
        place = np.searchsorted(curve.cost[steps], grid, side="right") - 1
        best = pick(best, np.where(place >= 0, curve.quality[steps[np.maximum(place, 0)]], np.nan))
    mask = np.append(True, best[1:] != best[:-1])
    x, y = scale[0] * grid[mask], scale[1] * best[mask]
    colour = _colours(MUTED.light)
    figure.add_scatter(
        x=_round(np.append(x, max(float(x[-1]), scale[2]))), y=_round(np.append(y, y[-1])), mode="lines",
        line={"shape": "hv", "width": 1.5, "dash": "dot", "color": colour["light"]}, name="best of the others",
        meta=colour, hovertemplate="best of the others<br>cost %{x:.4~g}<br>quality %{y:.4~g}<extra></extra>",
    )  # fmt: skip


def _colours(light: str) -> dict[str, str]:
    return {"light": light, "dark": themed()[light].dark}


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.14)"


def _round(values: Any) -> list[float]:
    return [float(f"{value:.{_DIGITS}g}") for value in values]


def _name(method: str) -> str:
    """Escape a name for Plotly, which reads some HTML in texts."""
    return method.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
