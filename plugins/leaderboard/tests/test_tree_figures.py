"""Trees in policies' details: read or refused, laid out without overlaps, and counted by depth and price."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any
from xml.etree import ElementTree

import pytest
from bench_analysis.analysed import Analysed
from bench_cstc.figures.reading import ShownTree, Tree, depth_by_price, trees_of
from bench_cstc.figures.tree import places_of, tree_figure
from bench_leaderboard.render.page_figures import figures_of
from bench_records.records import Records
from bench_records.selection import select
from hypothesis import given
from hypothesis import strategies as st
from support.families import synthetic_records, synthetic_suite

QUADRANTS: list[dict[str, Any]] = [
    {"name": 1, "features": [5], "share": 1.0, "mean": 0.0},
    {"name": 2, "features": [4], "share": 0.5, "mean": 10.0},
    {"name": 3, "features": [4], "share": 0.5, "mean": -10.0},
    {"name": 4, "features": [3], "share": 0.25, "mean": 15.0},
    {"name": 5, "features": [1], "share": 0.25, "mean": 5.0},
    {"name": 6, "features": [0, 5], "share": 0.25, "mean": -9.0},
    {"name": 7, "features": [2], "share": 0.25, "mean": -11.0},
]
NAMES = ("z++", "z+-", "z-+", "z--", "sign x", "sign z")


def with_trees(trees: list[Any], prices: list[float], classes: list[int] | None = None) -> Records:
    """Records of one method on one data set, a tree per seed."""
    records = synthetic_records(["Heart"], ["CO-T"], seeds=len(trees))
    for seed, said in enumerate(trees):
        name = f"00000{seed:04}"
        info = records.infos[name]
        info["features"] = [f"f{i}" for i in range(len(prices))]
        info["costs"] = {
            "prices": [[price] for price in prices], "groups": None, "group_prices": None, "classes": classes,
            "evaluation": 0.0,
        }  # fmt: skip
        kept = [{"class": None, "nodes": said}] if said else None
        records.policies.loc[records.policies["name"] == name, "details"] = json.dumps({"trees": kept})
    return records


def chosen_of(records: Records) -> Any:
    return select(records, synthetic_suite(["Heart"], ["CO-T"]))


def test_a_tree_is_read_with_its_depths_and_what_is_new_at_each_node() -> None:
    tree = Tree.read(QUADRANTS, 6)
    assert tree is not None
    assert [node.depth for node in tree.nodes] == [1, 2, 2, 3, 3, 3, 3]
    assert [tree.parent(place) for place in range(7)] == [-1, 0, 0, 1, 1, 2, 2]
    assert tree.children[0] == (1, 2)
    assert tree.used_by(1) == (5,)
    assert tree.used_by(2) == (4, 5)
    assert tree.used_by(9) == (0, 1, 2, 3, 4, 5)
    shown = ShownTree(tree, NAMES, 0)
    assert shown.new(5) == (0,)  # the root has read sign z
    assert not tree.is_chain


@pytest.mark.parametrize(
    "said",
    [
        None,
        [],
        "tree",
        [1],
        [{"name": 2, "features": []}],
        [{"name": 1, "features": [6]}],
        [{"name": 1, "features": "all"}],
        [{"name": "root", "features": []}],
        [QUADRANTS[0], QUADRANTS[0]],
        [QUADRANTS[0], QUADRANTS[2], QUADRANTS[1]],
        [QUADRANTS[0], QUADRANTS[3]],
    ],
)
def test_an_invalid_tree_is_not_read(said: Any) -> None:
    assert Tree.read(said, 6) is None


@given(st.lists(st.integers(0, 2**20), max_size=40))
def test_boxes_do_not_overlap_and_parents_are_between_their_children(leaves: list[int]) -> None:
    names = {1} | {leaf >> shift for leaf in leaves for shift in range(leaf.bit_length())}
    tree = Tree.read([{"name": name, "features": [0]} for name in sorted(names)], 1)
    assert tree is not None
    places = places_of(tree)
    by_level: dict[float, list[float]] = {}
    for level, row in places:
        by_level.setdefault(level, []).append(row)
    for rows in by_level.values():
        ordered = sorted(rows)
        assert all(b - a >= 1 - 1e-9 for a, b in itertools.pairwise(ordered))
    if not tree.is_chain:
        for place, children in enumerate(tree.children):
            if children:
                rows = [places[child][1] for child in children]
                assert min(rows) - 1e-9 <= places[place][1] <= max(rows) + 1e-9


def test_the_share_of_a_price_that_is_read_grows_with_depth() -> None:
    shallow = [{"name": 1, "features": [4, 5]}]
    records = with_trees([QUADRANTS, shallow], [10.0, 10.0, 10.0, 10.0, 1.0, 1.0])
    found = depth_by_price(records, chosen_of(records))
    assert found is not None
    assert found.labels == ("price 1", "price 10")
    assert found.counts == (2, 4)
    assert found.seeds == 2
    # Seed 0 reads 1, 2, 2 of the two cheap ones and 0, 0, 4 of the four expensive ones; seed 1 both cheap ones at once.
    assert found.shares.tolist() == [[0.75, 1.0, 1.0], [0.0, 0.0, 0.5]]


def test_many_prices_are_put_into_eight_ranges_and_classes_count_as_they_are() -> None:
    said = [{"name": 1, "features": list(range(5))}]
    records = with_trees([said], [float(price) for price in range(20)])
    found = depth_by_price(records, chosen_of(records))
    assert found is not None
    assert len(found.labels) == 8
    assert found.labels[0] == "price 0 to 2"
    assert sum(found.counts) == 20
    assert found.shares[:, 0].tolist() == [1.0, pytest.approx(2 / 3), 0, 0, 0, 0, 0, 0]
    records = with_trees([said], [7.0] * 6, [1, 1, 1, 2, 2, 2])
    found = depth_by_price(records, chosen_of(records))
    assert found is not None
    assert found.labels == ("class 1", "class 2")
    assert found.shares[:, 0].tolist() == [1.0, pytest.approx(2 / 3)]


def test_the_tree_shown_is_the_first_seeds_with_what_was_paid_on_the_way() -> None:
    records = with_trees([None, QUADRANTS], [10.0, 10.0, 10.0, 10.0, 1.0, 1.0])
    shown = trees_of(records, chosen_of(records))
    assert shown is not None
    assert len(shown) == 1
    assert shown[0].seed == 1
    assert shown[0].paid == (1.0, 2.0, 2.0, 12.0, 12.0, 12.0, 12.0)
    for info in records.infos.values():
        info["costs"]["prices"] = [[1.0, 0.5]] * 6
    priced_by_size = trees_of(records, chosen_of(records))
    assert priced_by_size is not None
    assert priced_by_size[0].paid is None
    assert trees_of(records, chosen_of(records), "nothing") is None


def test_every_box_says_its_share_its_mean_label_and_its_features() -> None:
    tree = Tree.read(QUADRANTS, 6)
    assert tree is not None
    shown = ShownTree(tree, NAMES, 0, (1.0, 2.0, 2.0, 12.0, 12.0, 12.0, 12.0))
    drawn = tree_figure([("CSTC", [shown])], "Quadrants")
    assert drawn == tree_figure([("CSTC", [shown])], "Quadrants")
    texts = [
        "".join(text.itertext()).strip()
        for text in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert "v3: 25 % of rows, mean 15" in texts
    assert "reads 1, 1 new, paid 12" in texts
    assert "reads 2, 1 new, paid 12" in texts
    assert "z++, sign z" in texts  # what is new comes first
    assert len(re.findall(r"C ", drawn.decode())) >= 6


def test_every_class_has_its_tree_and_a_chain_counts_its_stages() -> None:
    chain = [{"name": 2**stage, "features": [stage]} for stage in range(3)]
    records = with_trees([None], [1.0, 1.0, 5.0, 5.0, 1.0, 1.0])
    trees = [{"class": 0, "nodes": chain}, {"class": 1, "nodes": QUADRANTS}, {"class": 2}]
    records.policies["details"] = json.dumps({"trees": trees})
    shown = trees_of(records, chosen_of(records))
    assert shown is not None
    assert [one.of for one in shown] == ["class 0", "class 1"]
    assert shown[0].tree.is_chain
    assert places_of(shown[0].tree) == [(0, 0), (0, 1), (0, 2)]
    assert b"v1 below v0, reads 1, 1 new; v2 below v1" in tree_figure([("CSCC", shown)], "Cascades")
    depths = depth_by_price(records, chosen_of(records))
    assert depths is not None
    assert depths.shares.tolist() == [[0.5, 1.0, 1.0], [0.0, 0.0, 1.0]]


def test_entries_draw_trees_and_depths_where_policies_have_them() -> None:
    suite = synthetic_suite(["Heart"], ["CO-T"], seeds=2)
    suite.file.__dict__["figures"] = [{"kind": "tree"}, {"kind": "depth-by-price"}]
    records = with_trees([QUADRANTS, QUADRANTS], [10.0, 10.0, 10.0, 10.0, 1.0, 1.0])
    made = {one.file: one for one in figures_of(Analysed(suite, records))}
    assert {"tree-heart.svg", "depth-by-price-heart.svg"} <= set(made)
    assert b"Heart: learned trees" in made["tree-heart.svg"].draw()
    assert b"price 10 (4)" in made["depth-by-price-heart.svg"].draw()
    without = synthetic_records(["Heart"], ["CO-T"], seeds=2)
    assert not {"tree", "depth-by-price"} & {one.kind for one in figures_of(Analysed(suite, without))}
