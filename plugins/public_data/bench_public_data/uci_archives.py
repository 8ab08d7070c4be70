"""The supported data sets of the UCI repository, and one of GitHub: their files, and how they are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

__all__ = ["ARCHIVES", "PHYSIONET", "Archive"]


@dataclass(frozen=True)
class Archive:
    """A data set of the repository.

    Attributes:
        name: name of the data set in tables.
        title: the archive's name on the server, without ``.zip``; the table's own name if it is not in an archive.
        file: the table's file in the archive; its training part if there is a ``test_file``.
        separator: between two values; ``\\s+`` for white space.
        columns: names of the columns in file order; empty if the file has a header.
        features: names of the features, in the order of the data set.
        target: name of the target column.
        categorical: features that hold categories, given as integers.
        licence: the licence that the repository states.
        content: `table_hash` of the parsed (and, with ``classes``, `prepared`) table, which stays the same if the
            archive is packed anew.
        test_file: the file of the given test part; empty if there is none.
        classes: pairs of greatest value and class name: the class of a target value is that of the first bound that it
            does not exceed. Empty: the table is kept as it was parsed, and the target's values are the classes.
        mirrored: files of the prepared table in a mirror's ``files/``, as CSV with a header, an alternative to
            ``file`` and ``test_file``.
        inner: the archive inside the server's archive that holds the files; empty if they are in the server's archive.
        blanks: whether spaces and tabs are part of values; False removes all of them.
    """

    name: str
    title: str
    file: str
    separator: str
    columns: tuple[str, ...]
    features: tuple[str, ...]
    target: str
    categorical: tuple[str, ...]
    licence: str
    content: str
    test_file: str = ""
    classes: tuple[tuple[float, str], ...] = ()
    mirrored: tuple[str, ...] = ()
    inner: str = ""
    blanks: bool = True

    @property
    def files(self) -> tuple[str, ...]:
        """The files in the archive: one, or those of the training and the test part."""
        return (self.file, self.test_file) if self.test_file else (self.file,)


_CLEVELAND = (
    "age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca", "thal",
)  # fmt: skip
_HEPATITIS = (
    "age", "sex", "steroid", "antivirals", "fatigue", "malaise", "anorexia", "liver_big", "liver_firm",
    "spleen_palpable", "spiders", "ascites", "varices", "bilirubin", "alk_phosphate", "sgot", "albumin", "protime",
    "histology",
)  # fmt: skip
_BANK = (
    "age", "job", "marital", "education", "default", "balance", "housing", "loan", "contact", "day", "month",
    "duration", "campaign", "pdays", "previous", "poutcome",
)  # fmt: skip
_KIDNEY = (
    "age", "bp", "sg", "al", "su", "rbc", "pc", "pcc", "ba", "bgr", "bu", "sc", "sod", "pot", "hemo", "pcv", "wbcc",
    "rbcc", "htn", "dm", "cad", "appet", "pe", "ane",
)  # fmt: skip
_ACTG = (
    "time", "trt", "age", "wtkg", "hemo", "homo", "drugs", "karnof", "oprior", "z30", "zprior", "preanti", "race",
    "gender", "str2", "strat", "symptom", "treat", "offtrt", "cd40", "cd420", "cd80", "cd820",
)  # fmt: skip
_SHOPPERS = (
    "Administrative", "Administrative_Duration", "Informational", "Informational_Duration", "ProductRelated",
    "ProductRelated_Duration", "BounceRates", "ExitRates", "PageValues", "SpecialDay", "Month", "OperatingSystems",
    "Browser", "Region", "TrafficType", "VisitorType", "Weekend",
)  # fmt: skip
_ICU = (
    "Age", "BUN", "Creatinine", "GCS", "Gender", "Glucose", "HCO3", "HCT", "HR", "Height", "ICUType", "K", "Mg",
    "NIDiasABP", "NIMAP", "NISysABP", "Na", "Platelets", "RespRate", "Temp", "Urine", "WBC", "Weight", "DiasABP",
    "FiO2", "MAP", "MechVent", "PaCO2", "PaO2", "SaO2", "SysABP", "pH", "ALP", "ALT", "AST", "Albumin", "Bilirubin",
    "Lactate", "Cholesterol", "TroponinI", "TroponinT",
)  # fmt: skip
_THYROID = (
    "age", "sex", "on_thyroxine", "query_on_thyroxine", "on_antithyroid_medication", "sick", "pregnant",
    "thyroid_surgery", "i131_treatment", "query_hypothyroid", "query_hyperthyroid", "lithium", "goitre", "tumor",
    "hypopituitary", "psych", "tsh", "t3", "tt4", "t4u",
)  # fmt: skip

ARCHIVES: dict[int, Archive] = {
    519: Archive(
        name="heart",
        title="heart failure clinical records",
        file="heart_failure_clinical_records_dataset.csv",
        separator=",",
        columns=(),
        # The order of EMSCO, Table 2 (F1..F12; time is the follow-up period), not that of the file.
        features=(
            "age",
            "anaemia",
            "high_blood_pressure",
            "creatinine_phosphokinase",
            "diabetes",
            "ejection_fraction",
            "platelets",
            "sex",
            "serum_creatinine",
            "serum_sodium",
            "smoking",
            "time",
        ),
        target="DEATH_EVENT",
        categorical=("anaemia", "high_blood_pressure", "diabetes", "sex", "smoking"),
        licence="CC BY 4.0",
        content="59195f5c8987be191a9715681587e32a475bf8d214673392361257bf8926a507",
    ),
    143: Archive(
        name="credit",
        title="statlog australian credit approval",
        file="australian.dat",
        separator=" ",
        columns=(*(f"A{i}" for i in range(1, 15)), "class"),
        features=tuple(f"A{i}" for i in range(1, 15)),
        target="class",
        # EMSCO, Table 5.
        categorical=("A1", "A4", "A5", "A6", "A8", "A9", "A11", "A12"),
        licence="CC BY 4.0",
        content="46531f4b403ada279d58280879d983b3d3e455275ca77fa8d4af1729267124b5",
    ),
    45: Archive(
        name="heart-cleveland",
        title="heart disease",
        file="processed.cleveland.data",
        separator=",",
        columns=(*_CLEVELAND, "disease"),
        features=_CLEVELAND,
        target="disease",
        categorical=("sex", "cp", "fbs", "restecg", "exang", "thal"),
        licence="CC BY 4.0",
        content="42c9d1002747f4f38cb7109a8b01d36130df7b581d1942f8c261ee755089d5ed",
        # 1 to 4 are degrees of narrowing, which are merged (Turney 1995, Appendix A.2).
        classes=((0, "absent"), (4, "present")),
        mirrored=("medical/heart-cleveland.csv",),
    ),
    46: Archive(
        name="hepatitis",
        title="hepatitis",
        file="hepatitis.data",
        separator=",",
        columns=("outcome", *_HEPATITIS),
        features=_HEPATITIS,
        target="outcome",
        categorical=(*_HEPATITIS[1:13], "histology"),
        licence="CC BY 4.0",
        content="154dedde729a519e63e052144ef911bc29bfbb077fc8ba86645af71348561963",
        classes=((1, "die"), (2, "live")),
        mirrored=("medical/hepatitis.csv",),
    ),
    60: Archive(
        name="liver-bupa",
        title="liver disorders",
        file="bupa.data",
        separator=",",
        # The selector is an old train/test split, not a diagnosis.
        columns=("mcv", "alkphos", "sgpt", "sgot", "gammagt", "drinks", "selector"),
        features=("mcv", "alkphos", "sgpt", "sgot", "gammagt"),
        target="drinks",
        categorical=(),
        licence="CC BY 4.0",
        content="d511ae08d65c3ccc3cee16872707e408a09dc0d487542fe32a50bb8c372440a3",
        # Half-pints a day, in steps of 0.5 (Turney 1995, Appendix A.1).
        classes=((2.5, "under 3"), (20, "3 or more")),
        mirrored=("medical/liver-bupa.csv",),
    ),
    102: Archive(
        name="thyroid",
        title="thyroid disease",
        file="ann-train.data",
        test_file="ann-test.data",
        separator=r"\s+",
        columns=(*_THYROID, "fti", "thyroid"),
        # The free thyroxine index is computed from tt4 and t4u and has no price of its own (Turney 1995, App. A.5).
        features=_THYROID,
        target="thyroid",
        categorical=_THYROID[1:16],
        licence="CC BY 4.0",
        content="e5deb6da18f7db50f838dd0bcf74afe69469fa6f08c32b9dfacb4a5b2b6e0e75",
        classes=((1, "1"), (2, "2"), (3, "3")),
        mirrored=("medical/thyroid-train.csv", "medical/thyroid-test.csv"),
    ),
    222: Archive(
        name="bank-marketing",
        title="bank marketing",
        inner="bank.zip",
        file="bank-full.csv",
        separator=";",
        columns=(),
        features=_BANK,
        target="y",
        categorical=(),
        licence="CC BY 4.0",
        content="be8622d9bcadd8b9e3e06e4d06d5e88131325007f663633bbe0383407516a9fc",
        classes=((0, "no"), (1, "yes")),
    ),
    336: Archive(
        name="ckd",
        # The archive holds a RAR file; the same table is served without an archive.
        title="data.csv",
        file="chronic_kidney_disease_full.arff",
        separator=",",
        columns=(*_KIDNEY, "class"),
        features=_KIDNEY,
        target="class",
        categorical=("sg", "al", "su"),
        licence="CC BY 4.0",
        content="1b16af7ac6da8d334338414bd9d0386a3a50a4672dee9d2be2783cfce5b91826",
        classes=((0, "ckd"), (1, "notckd")),
        blanks=False,
    ),
    890: Archive(
        name="actg175",
        title="data.csv",
        file="AIDS_ClinicalTrial_GroupStudy175.csv",
        separator=",",
        columns=(),
        features=_ACTG,
        target="cid",
        categorical=("trt", "strat"),
        licence="CC BY 4.0",
        content="df64cde2b447a76707105de11cccbe12bf325283be1cea1706b9ee3ed19663d8",
        classes=((0, "censored"), (1, "event")),
    ),
    468: Archive(
        name="online-shoppers",
        title="online shoppers purchasing intention dataset",
        file="online_shoppers_intention.csv",
        separator=",",
        columns=(),
        features=_SHOPPERS,
        target="Revenue",
        categorical=("OperatingSystems", "Browser", "Region", "TrafficType"),
        licence="CC BY 4.0",
        content="937cc9afd091c747d43947ff33fe7fc4f112453bf1095519dffaaac2ffdceed4",
        classes=((0, "FALSE"), (1, "TRUE")),
    ),
}

PHYSIONET = Archive(
    name="physionet-2012",
    # AFABench's table of the challenge's data, in a fork whose commit is known to hold it.
    title="rezaarezvan/AFA-Benchmark/69cae750ffa75a916ed3f2a7cb27b38cf93f1f8e/extra/data/misc/physionet.csv",
    file="physionet.csv",
    separator=",",
    columns=(),
    features=_ICU,
    target="Outcome",
    categorical=("Gender", "ICUType"),
    licence="ODC-By 1.0",
    content="62bf41d51034d15d22aa26db9bfc3445964eecc7f006e7900e26478d461aa153",
    classes=((0, "survived"), (1, "died")),
    mirrored=("afabench/physionet.csv",),
)
"""PhysioNet/CinC Challenge 2012, means over the first 48 hours in intensive care."""
