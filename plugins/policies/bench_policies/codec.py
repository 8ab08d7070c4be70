"""Encode policies as JSON, arrays and library models, and decode them without running code from the files.

Objects are instances of classes that installed plugins name (`bench_policies.hookspecs`); they are restored from their
fields without calling the class. Arrays use NumPy's format without Python objects, scikit-learn estimators use skops
files, and LightGBM models use LightGBM's text format.
"""

from __future__ import annotations

import dataclasses
import io
import json
import math
import zipfile
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

import numpy as np

from bench_core import RequestError


def type_name(cls: type) -> str:
    """Return the name of a class in a saved policy: ``module:qualified name``."""
    return f"{cls.__module__}:{cls.__qualname__}"


@dataclasses.dataclass
class Encoded:
    """An encoded object.

    Attributes:
        root: the object as JSON values, with references to the entries below.
        objects: type and fields of the instances of registered classes; equal ones are stored once.
        arrays: arrays by key; equal ones are stored once.
        models: file contents by file name; equal ones are stored once.
    """

    root: Any = None
    objects: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    arrays: dict[str, np.ndarray[Any, Any]] = dataclasses.field(default_factory=dict)
    models: dict[str, bytes] = dataclasses.field(default_factory=dict)

    def as_plain(self) -> dict[str, Any]:
        """Return the JSON part."""
        return {"root": self.root, "objects": self.objects}

    def arrays_file(self) -> bytes:
        """Return the arrays as the content of an ``.npz`` file."""
        out = io.BytesIO()
        np.savez(out, **self.arrays)  # type: ignore[arg-type]
        return out.getvalue()


def encode(value: Any, types: Iterable[type]) -> Encoded:
    """Encode an object.

    Args:
        value: an object made of registered classes, containers, numbers, strings, arrays, scikit-learn estimators and
            LightGBM models.
        types: the registered classes.

    Raises:
        RequestError: it holds an object of another type, or one that refers back to itself; the message names the type
            and the attribute.
    """
    writer = _Writer({type_name(cls): cls for cls in types})
    try:
        writer.out.root = writer.put(value, "policy")
    except RecursionError:
        raise RequestError(f"a {type(value).__name__} refers back to itself and cannot be saved") from None
    return writer.out


class _Writer:
    def __init__(self, types: dict[str, type]) -> None:
        self.types, self.out = types, Encoded()
        self.known: dict[bytes, Any] = {}
        """Hash of an entry's content → its key, so that equal entries are written once."""

    def put(self, value: Any, where: str) -> Any:
        if value is None or isinstance(value, bool | str) or (type(value) is int):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"$": "float", "v": repr(value)}
        if isinstance(value, list):
            return [self.put(item, f"{where}[{i}]") for i, item in enumerate(value)]
        if type(value) is tuple:
            return {"$": "tuple", "v": [self.put(item, f"{where}[{i}]") for i, item in enumerate(value)]}
        if isinstance(value, Mapping):
            pairs = [[self.put(key, where), self.put(item, f"{where}[{key!r}]")] for key, item in value.items()]
            return {"$": "dict", "v": pairs}
        if isinstance(value, np.ndarray | np.generic):
            return self._array(value, where)
        if type_name(type(value)) in self.types:
            return self._object(value, where)
        return self._model(value, where)

    def _array(self, value: Any, where: str) -> Any:
        if value.dtype.hasobject:
            raise RequestError(f"{where} is an array of Python objects, which cannot be saved")
        array = np.asarray(value)
        header = f"{array.dtype.str}{array.shape}{array.flags.f_contiguous}"
        key = self._once(header, array.tobytes(), f"a{len(self.out.arrays)}")
        self.out.arrays[key] = array
        return {"$": "array" if isinstance(value, np.ndarray) else "number", "v": key}

    def _object(self, value: Any, where: str) -> Any:
        fields = {name: self.put(item, f"{where}.{name}") for name, item in _fields(value).items()}
        entry = {"type": type_name(type(value)), "fields": fields}
        place = self._once("object", json.dumps(entry).encode(), len(self.out.objects))
        if place == len(self.out.objects):
            self.out.objects.append(entry)
        return {"$": "object", "v": place}

    def _once(self, kind: str, content: bytes, key: Any) -> Any:
        """Return the key under which equal content is written; ``key`` if it is new."""
        return self.known.setdefault(sha256(kind.encode() + b"\0" + content).digest(), key)

    def _model(self, value: Any, where: str) -> Any:
        top = type(value).__module__.partition(".")[0]
        if top == "lightgbm" and hasattr(value, "model_to_string"):
            content = value.model_to_string().encode()
            name = self._once("model", content, f"models/{len(self.out.models)}.lightgbm.txt")
            self.out.models[name] = content
            return {"$": "lightgbm", "v": name}
        if top == "sklearn":
            import skops.io  # type: ignore[import-untyped]

            try:
                content = skops.io.dumps(value)
            except Exception as error:
                raise RequestError(f"{where}: skops cannot write a {type(value).__name__}: {error}") from None
            name = self._once("model", content, f"models/{len(self.out.models)}.skops")
            self.out.models[name] = content
            return {"$": "skops", "v": name}
        raise RequestError(
            f"{where} cannot be saved: its plugin does not name {type(value).__module__}.{type(value).__qualname__} "
            "in the hook bench_policy_types"
        )


def _fields(value: Any) -> dict[str, Any]:
    if hasattr(value, "saved_fields"):
        return dict(value.saved_fields())
    if isinstance(value, tuple):  # a named tuple
        return dict(value._asdict())  # type: ignore[attr-defined]
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return dict(vars(value))


class Decoder:
    """Decodes what `encode` wrote.

    Args:
        plain: the JSON part.
        arrays: content of the ``.npz`` file.
        models: file contents by file name.
        types: the registered classes.

    Raises:
        zipfile.BadZipFile: the ``.npz`` file is not a zip archive.
        ValueError: the ``.npz`` file is compressed, or holds Python objects.
    """

    def __init__(
        self, plain: dict[str, Any], arrays: bytes, models: Mapping[str, bytes], types: Iterable[type]
    ) -> None:
        self.types = {type_name(cls): cls for cls in types}
        self.plain, self.models = plain, models
        _check_archive(arrays, "arrays.npz")
        with np.load(io.BytesIO(arrays), allow_pickle=False) as held:
            self.arrays = {key: held[key] for key in held.files}
        self.objects: dict[int, Any] = {}
        self.read: dict[str, Any] = {}

    def get(self) -> Any:
        """Return the decoded object.

        Raises:
            RequestError: it needs a class that no installed plugin names, or is malformed.
        """
        try:
            return self._get(self.plain["root"])
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, json.JSONDecodeError) as error:
            raise RequestError(f"not a saved policy: {type(error).__name__}: {error}") from None

    def _get(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self._get(item) for item in node]
        if not isinstance(node, dict):
            return node
        kind, held = node["$"], node["v"]
        if kind == "float":
            return float(held)
        if kind == "tuple":
            return tuple(self._get(item) for item in held)
        if kind == "dict":
            return {self._get(key): self._get(item) for key, item in held}
        if kind == "array":
            return self.arrays[held]
        if kind == "number":
            return self.arrays[held][()]
        if kind == "object":
            return self._object(held)
        if kind in ("skops", "lightgbm"):
            if held not in self.read:
                if kind == "skops":
                    _check_archive(self.models[held], held)
                self.read[held] = _skops(self.models[held]) if kind == "skops" else _lightgbm(self.models[held])
            return self.read[held]
        raise ValueError(f"unknown kind of node {kind!r}")

    def _object(self, place: int) -> Any:
        if place not in self.objects:
            entry = self.plain["objects"][place]
            cls = self.types.get(entry["type"])
            if cls is None:
                raise RequestError(f"it holds a {entry['type']}, which no installed plugin names for saved policies")
            if hasattr(cls, "from_saved"):
                self.objects[place] = cls.from_saved({name: self._get(item) for name, item in entry["fields"].items()})
                return self.objects[place]
            if issubclass(cls, tuple):
                fields = entry["fields"]
                self.objects[place] = tuple.__new__(cls, [self._get(fields[name]) for name in cls._fields])  # type: ignore[attr-defined]
                return self.objects[place]
            instance: Any = object.__new__(cls)
            self.objects[place] = instance
            known = {field.name for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else None
            for name, item in entry["fields"].items():
                if known is not None and name not in known:
                    raise ValueError(f"{entry['type']} has no field {name!r}")
                object.__setattr__(instance, name, self._get(item))
        return self.objects[place]


def _check_archive(content: bytes, name: str) -> None:
    """Refuse a compressed archive, which could expand to any size; `encode` writes uncompressed ones."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
            raise ValueError(f"{name} is compressed")


_TRUSTED = frozenset({"sklearn.tree._tree.Tree"})
"""A scikit-learn type that skops trusts only inside an estimator."""


def _skops(content: bytes) -> Any:
    import skops.io

    unknown = set(skops.io.get_untrusted_types(data=content)) - _TRUSTED
    if unknown:
        raise RequestError(f"it holds a model of types that skops does not trust: {', '.join(sorted(unknown))}")
    return skops.io.loads(content, trusted=sorted(_TRUSTED))


def _lightgbm(content: bytes) -> Any:
    try:
        import lightgbm
    except ImportError:
        raise RequestError("it needs LightGBM: pip install lightgbm") from None
    return lightgbm.Booster(model_str=content.decode())
