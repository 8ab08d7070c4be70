"""Memory that a method's process is given: the same values, and nobody can write to it again."""

from __future__ import annotations

import fcntl
import mmap
import os
import threading

import numpy as np
import pytest

from bench_core.run.execute.wire import pack, unpack

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="no memory files here")


def test_what_is_packed_comes_back_and_cannot_be_written() -> None:
    packed = pack({"a": [1, None]}, {"x": np.arange(6.0).reshape(2, 3), "none": None})
    with pytest.raises(PermissionError):
        os.pwrite(packed.fd, b"x", 0)
    plain, arrays = unpack(os.dup(packed.fd), packed.table)
    assert plain == {"a": [1, None]}
    assert set(arrays) == {"x"}
    np.testing.assert_array_equal(arrays["x"], np.arange(6.0).reshape(2, 3))


def test_memory_that_is_held_for_a_moment_is_sealed_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    create, refused = os.memfd_create, []

    def held(name: str, flags: int) -> int:
        """A memory file with a writable mapping for 0.3 seconds: until then the kernel refuses to seal it."""
        fd = create(name, flags)
        os.truncate(fd, 4096)
        mapping = mmap.mmap(fd, 4096)
        try:
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
        except OSError as error:
            refused.append(error.errno)
        threading.Timer(0.3, mapping.close).start()
        return fd

    monkeypatch.setattr(os, "memfd_create", held)
    packed = pack([], {"x": np.ones(3)})
    assert refused
    with pytest.raises(PermissionError):
        os.pwrite(packed.fd, b"x", 0)
