"""Ready-made data sets of OpenML: one line each, with provenance, task and what is left out.

Data sets of the UCI repository have its licence, CC BY 4.0; a loaded data set names the licence that OpenML's
description states. These are OpenML's first uploads, whose rows are those of Weka's ARFF files.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple

from bench_core import DataContext, DataError, Dataset, Task
from bench_public_data.named import ReadyMade, without_features
from bench_public_data.openml_source import OpenML

__all__ = ["SETS", "SOURCES", "OpenMLSet", "Table"]


class Table(NamedTuple):
    """The description of a ready-made data set.

    Attributes:
        id: OpenML's number.
        rows, features: size of the data set, without omitted rows and columns.
        task: task of the data set.
        about: origin of the data, and the meaning of a row.
        without: columns that are left out, with underscores for blanks.
        classes: the classes that are kept; empty keeps all. A class of fewer than 8 rows is too small for three parts.
    """

    id: int
    rows: int
    features: int
    task: Task
    about: str
    without: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()


_RHYTHMS = ("1", "2", "3", "4", "5", "6", "9", "10", "16")
_COMPUTED = (
    "TSH_measured", "T3_measured", "TT4_measured", "T4U_measured", "FTI_measured", "FTI", "TBG_measured", "TBG",
    "referral_source",
)  # fmt: skip
"""Columns left out of thyroid tables: whether a test was made, an index of two tests, an empty one, the referral."""

SETS: dict[str, Table] = {
    "anneal": Table(2, 898, 38, "multiclass", "UCI 3, Sterling and Buntine: sheets of steel and their annealing class"),
    "kr-vs-kp": Table(3, 3196, 36, "binary", "UCI 22, Shapiro 1983: chess end games, king and rook against pawn"),
    "arrhythmia": Table(
        5, 438, 279, "multiclass", "UCI 5, Guvenir et al. 1997: electrocardiograms of patients", (), _RHYTHMS
    ),
    "autos": Table(
        9, 202, 25, "multiclass", "UCI 10, Schlimmer 1985: cars and their insurance risk", (),
        ("-1", "0", "1", "2", "3"),
    ),
    "lymph": Table(
        10, 142, 18, "binary", "UCI 63, Ljubljana Oncology Institute: lymphographies of patients", (),
        ("malign_lymph", "metastases"),
    ),
    "balance-scale": Table(11, 625, 4, "multiclass", "UCI 12, Siegler 1976: weights and distances on a balance"),
    "breast-cancer-recurrence": Table(
        13, 286, 9, "binary", "UCI 14, Ljubljana Oncology Institute 1988: patients after surgery"
    ),
    "breast-w": Table(15, 699, 9, "binary", "UCI 15, Wolberg, Wisconsin 1992: graded cells of breast tumours"),
    "cmc": Table(23, 1473, 9, "multiclass", "UCI 30, Lim 1987: women in Indonesia and their contraception"),
    "mushroom": Table(24, 8124, 22, "binary", "UCI 73, Audubon Society guide 1981: described mushrooms"),
    "nursery": Table(
        26, 12958, 8, "multiclass", "UCI 76, Rajkovic et al. 1989: applications for places in kindergartens", (),
        ("not_recom", "priority", "spec_prior", "very_recom"),
    ),
    "credit-approval": Table(29, 690, 15, "binary", "UCI 27, Quinlan 1987: applications for credit cards"),
    "pendigits": Table(32, 10992, 16, "multiclass", "UCI 81, Alpaydin and Alimoglu 1998: digits written with a pen"),
    "dermatology": Table(35, 366, 34, "multiclass", "UCI 33, Ilter and Guvenir 1998: patients with scaling skin"),
    "sick": Table(
        38, 3772, 20, "binary", "UCI 102 (sick), Garavan Institute 1987: patients, sick of another disease", _COMPUTED
    ),
    "ecoli": Table(
        39, 327, 7, "multiclass", "UCI 39, Nakai 1996: proteins and their site in the cell", (),
        ("cp", "im", "imU", "om", "pp"),
    ),
    "glass": Table(41, 214, 9, "multiclass", "UCI 42, German 1987: splinters of glass"),
    "soybean": Table(42, 683, 35, "multiclass", "UCI 90, Michalski and Chilausky 1980: soybean plants, 19 diseases"),
    "haberman": Table(43, 306, 3, "binary", "UCI 43, Haberman 1976: survival after surgery for breast cancer"),
    "splice": Table(46, 3190, 60, "multiclass", "UCI 69, GenBank 64.1, 1992: splice junctions in DNA"),
    "tae": Table(48, 151, 5, "multiclass", "UCI 100, Loh 1997: evaluated teaching assistants"),
    "tic-tac-toe": Table(50, 958, 9, "binary", "UCI 101, Aha 1991: final boards of the game"),
    "heart-h": Table(51, 294, 13, "binary", "UCI 45 (Hungarian), Janosi, Budapest 1988: patients with chest pain"),
    "hypothyroid": Table(
        57, 3770, 20, "multiclass", "UCI 102 (hypothyroid), Garavan Institute 1987: the patients of sick", _COMPUTED,
        ("compensated_hypothyroid", "negative", "primary_hypothyroid"),
    ),
    "ionosphere": Table(59, 351, 34, "binary", "UCI 52, Sigillito et al. 1989: radar returns from the ionosphere"),
    "waveform-5000": Table(60, 5000, 40, "multiclass", "UCI 108, Breiman et al. 1984: generated waves and noise"),
    "zoo": Table(
        62, 92, 16, "multiclass", "UCI 111, Forsyth 1990: animals", ("animal",),
        ("bird", "fish", "insect", "invertebrate", "mammal"),
    ),
    "eucalyptus": Table(188, 736, 19, "multiclass", "Weka's agricultural data, Bulloch 1992: seedlots of eucalyptus"),
    "vowel": Table(
        307, 990, 11, "multiclass", "UCI 152, Deterding 1989: vowels spoken by 15 speakers",
        ("Train_or_Test", "Speaker_Number"),
    ),
    "vertebra-column": Table(1523, 310, 6, "multiclass", "UCI 212, da Mota 2011: the spine and pelvis of patients"),
    "cylinder-bands": Table(
        6332, 540, 35, "binary", "UCI 32, Evans 1994: runs of a rotogravure press",
        ("timestamp", "cylinder_number", "customer", "job_number"),
    ),
    "abalone": Table(183, 4177, 8, "regression", "UCI 1, Nash et al. 1994: molluscs and the rings of their shells"),
    "kin8nm": Table(189, 8192, 8, "regression", "Delve, Ghahramani 1996: a simulated robot arm of eight links"),
    "auto-mpg": Table(196, 398, 7, "regression", "UCI 9, StatLib 1983: cars and their fuel consumption"),
    "cpu-act": Table(197, 8192, 21, "regression", "Delve, Rasmussen et al. 1996: activity of a computer"),
    "houses": Table(537, 20640, 8, "regression", "StatLib, Pace and Barry 1997: blocks of houses in California"),
}  # fmt: skip
"""Name in suites → description of the data set."""


class OpenMLSet(ReadyMade):
    """A data set of `SETS`, with underscores for blanks in the names of its features."""

    table: ClassVar[Table]

    def source(self) -> OpenML:
        task: Literal["regression"] | None = "regression" if self.table.task == "regression" else None
        return OpenML(id=self.table.id, name=self.label, task=task, classes=list(self.table.classes))

    def load(self, context: DataContext) -> Dataset:
        dataset = super().load(context)
        renamed = replace(dataset, feature_names=tuple(name.replace(" ", "_") for name in dataset.feature_names))
        found = without_features(renamed, self.table.without)
        shape = (self.table.rows, self.table.features)
        if found.values.shape != shape:
            raise DataError(f"data set {self.label!r}: OpenML's table gives {found.values.shape} values, not {shape}")
        return found


def _source(label: str, table: Table) -> type[OpenMLSet]:
    left_out = len(table.without)
    columns = f" without {left_out} column{'s' if left_out > 1 else ''}" if left_out else ""
    about = f"{table.about}; OpenML {table.id}, {table.rows} × {table.features}{columns}, {table.task}."
    body = {"__doc__": about, "__module__": __name__, "label": label, "table": table}
    name = "".join(word.capitalize() for word in label.split("-"))
    return dataclass(frozen=True)(type(name, (OpenMLSet,), body))


SOURCES: dict[str, type[OpenMLSet]] = {label: _source(label, table) for label, table in SETS.items()}
"""Name → data source."""
globals().update({source.__name__: source for source in SOURCES.values()})  # pickle looks classes up by name
