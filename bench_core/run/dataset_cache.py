"""A cache of data sets by their parameters. Hashes and facts are remembered, so that many data sets need no loading."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any

from bench_store import open_file, seal, unseal, write_cache

from bench_core.contract.canonical import sha256_text
from bench_core.contract.dataset import Dataset, facts_of
from bench_core.contract.errors import ContractError
from bench_core.contract.facts import DataFacts
from bench_core.contract.sources import DataContext, DataSource
from bench_core.plugins.registry import Registry
from bench_core.run.libraries import one_blas_thread
from bench_core.run.trial import fragment

__all__ = ["DatasetCache"]


class DatasetCache:
    """Loads data sets, keeps the last ones up to half a gigabyte, and remembers hashes and facts in the store.

    The key is the source's parameters, the code of its plugin, and its fingerprint of the bytes that it would read. So
    an unchanged data set need not be loaded to name its trials.

    Attributes:
        damage: an error message if the file of remembered hashes is damaged, which is then replaced; else empty.
    """

    _KEPT_BYTES = 2**29

    def __init__(self, context: DataContext, registry: Registry, store: Path) -> None:
        self.context = context
        self.registry = registry
        self.store = store
        self._index_path = store / "datasets.json"
        self._loaded: OrderedDict[str, Dataset] = OrderedDict()
        self._known: dict[str, Any] = {}
        self._bytes = 0
        self._dirty = False
        self.damage = ""
        try:
            with open_file(self._index_path) as file:
                known = unseal(file.read())["hashes"]
            self._known = known if isinstance(known, dict) else {}
        except (FileNotFoundError, NotADirectoryError):
            pass
        except (OSError, ValueError, KeyError) as error:
            self.damage = f"{self._index_path} is not used ({error}); data sets are hashed again"
            self._dirty = True

    def content(self, use: str, source: DataSource) -> str:
        """The content hash of a source's data set. It is loaded only if no hash is remembered.

        Raises:
            BenchError: it cannot be loaded.
        """
        if (fingerprint := source.fingerprint(self.context)) is None:
            return self._content(use, source)
        plugin = self.registry.plugin_of("datasets", use).source
        key = sha256_text(f"{plugin}|{fragment(use, source)}|{fingerprint}")
        if not isinstance(self._known.get(key), str):
            self._known[key], self._dirty = self._content(use, source), True
        return str(self._known[key])

    def facts(self, use: str, source: DataSource, content: str) -> DataFacts:
        """The facts of the data set with a content hash. It is loaded only if no facts are remembered.

        Raises:
            BenchError: it cannot be loaded.
        """
        key = f"facts|{content}"
        try:
            return DataFacts.from_plain(self._known[key])
        except (KeyError, TypeError):
            facts = facts_of(self.load(use, source))
            self._known[key], self._dirty = facts.as_plain(), True
            return facts

    def task(self, content: str) -> str:
        """The task of the data set with a content hash; empty if its facts are not remembered."""
        return str(self._known.get(f"facts|{content}", {}).get("task", ""))

    def _content(self, use: str, source: DataSource) -> str:
        with one_blas_thread():
            known = source.content(self.context)
        return known if known is not None else self.load(use, source).content

    def load(self, use: str, source: DataSource) -> Dataset:
        """Load the data set of a source.

        Raises:
            BenchError: it cannot be loaded, or is no data set.
        """
        key = fragment(use, source)
        if key in self._loaded:
            self._loaded.move_to_end(key)
            return self._loaded[key]
        with one_blas_thread():
            dataset = source.load(self.context)
        if not isinstance(dataset, Dataset):
            raise ContractError(f"the data source {use!r} returned {type(dataset).__name__}, not a Dataset")
        self._loaded[key] = dataset
        self._bytes += dataset.values.nbytes
        while self._bytes > self._KEPT_BYTES and len(self._loaded) > 1:
            self._bytes -= self._loaded.popitem(last=False)[1].values.nbytes
        return dataset

    def forget(self, use: str, source: DataSource) -> None:
        """Remove the data set of a source from the cache, so that its next use loads it again."""
        dataset = self._loaded.pop(fragment(use, source), None)
        self._bytes -= 0 if dataset is None else dataset.values.nbytes

    def save(self) -> None:
        """Write new hashes to the store. If that fails, they are lost, which is no error."""
        if self._dirty:
            write_cache(self._index_path, seal({"hashes": self._known}))
            self._dirty = False
