"""Figures of learned trees and cascades (CSTC Fig. 8 to 10): the kinds ``tree`` and ``depth-by-price``."""

from __future__ import annotations

from functools import partial

from bench_leaderboard import Figure, FigureBuilder, FigureEntry, FigureKind

from bench_cstc.figures.reading import depth_by_price, trees_of

__all__ = ["DepthByPrice", "Tree"]


class TreeEntry(FigureEntry):
    """``kind = "tree"`` and ``kind = "depth-by-price"``.

    Attributes:
        field: the detail of a policy that holds lists of nodes, see `bench_cstc.figures.reading`.
    """

    field: str = "trees"


class Tree(FigureKind):
    """The trees or cascades of the first seed's selected policy."""

    title = "Learned trees"
    entry = TreeEntry

    def build(self, builder: FigureBuilder, entry: TreeEntry, stem: str) -> list[Figure]:
        from bench_cstc.figures.tree import tree_figure

        gather = partial(trees_of, field=entry.field or "trees")
        return builder.by_method(self, entry, stem, gather, tree_figure)


class DepthByPrice(FigureKind):
    """For each price, the share of its features that the trees of the selected policies read down to each depth."""

    title = "Features read, by depth and price"
    entry = TreeEntry

    def build(self, builder: FigureBuilder, entry: TreeEntry, stem: str) -> list[Figure]:
        from bench_cstc.figures.depths import depth_figure

        gather = partial(depth_by_price, field=entry.field or "trees")
        return builder.by_method(self, entry, stem, gather, depth_figure)
