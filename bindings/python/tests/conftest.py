# SPDX-License-Identifier: Apache-2.0
"""What the tests share."""

from __future__ import annotations

import os

import numpy as np
import pytest

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX would take the whole GPU

KEY_DTYPES = [
    np.dtype(name)
    for name in "bool uint8 int8 uint16 int16 float16 uint32 int32 float32 uint64 int64 float64".split()
]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(26)


def random_keys(rng: np.random.Generator, dtype: np.dtype, size: int) -> np.ndarray:
    """Keys with many equal ones among them, and with the extremes of the type."""
    if dtype == np.bool_:
        return rng.integers(0, 2, size).astype(dtype)
    if dtype.kind == "f":
        keys = np.round(rng.standard_normal(size) * 100).astype(dtype)
        keys[: min(size, 4)] = [np.inf, -np.inf, np.finfo(dtype).max, np.finfo(dtype).tiny][:size]
        return keys
    limits = np.iinfo(dtype)
    keys = rng.integers(limits.min, limits.max, size, dtype=dtype, endpoint=True)
    keys[size // 2 :] = keys[: size - size // 2]
    keys[: min(size, 2)] = [limits.min, limits.max][:size]
    return keys
