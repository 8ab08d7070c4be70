"""JAX on one thread of the processor, with its compiled programs kept on disk. Import `jax` from here.

Importing this module starts XLA, which starts threads: a process that has imported it must not fork. So only code that
trains imports it; policies decide without JAX.
"""

from __future__ import annotations

import logging
import os
from unittest.mock import patch

__all__ = ["jax", "jnp", "optax"]

_ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

# JAX sets environment variables, which are removed afterwards, too.
with patch.dict(
    os.environ,
    XLA_FLAGS=f"{os.environ.get('XLA_FLAGS', '')} {_ONE_THREAD}".strip(),
    JAX_PLATFORMS="cpu",
    TF_CPP_MIN_LOG_LEVEL="3",
):
    import jax
    import jax.numpy as jnp
    import optax  # type: ignore[import-untyped]

    jax.devices("cpu")  # XLA reads its flags when it starts

# `JAX_COMPILATION_CACHE_DIR` is a folder of kernels, which is read-only in trials: programs that the warm-up has not
# compiled are not kept there, and JAX would warn of each.
for name, value in {
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
    "jax_persistent_cache_enable_xla_caches": "none",
}.items():
    jax.config.update(name, value)  # type: ignore[no-untyped-call]
for logger in ("jax._src.compiler", "jax._src.compilation_cache"):
    logging.getLogger(logger).setLevel(logging.ERROR)
