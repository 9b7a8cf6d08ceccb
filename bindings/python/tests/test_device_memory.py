# SPDX-License-Identifier: Apache-2.0
"""GPU memory is as it was after many calls whose results are gone."""

from __future__ import annotations

import gc
from ctypes import byref, c_uint64
from typing import Any, Callable

import numpy as np
import pytest
from frameworks import KINDS, library

import sortie
from sortie._context import HOST, call
from sortie._driver import synchronize
from sortie._options import Settings


class OnHost:
    """Arrays of NumPy, which the library copies to the GPU and back."""

    make = staticmethod(np.asarray)


def arrays(kind: str) -> Any:
    if kind != "numpy":
        return library(kind)
    if not sortie.info().devices:
        pytest.skip(f"the library finds no GPU: {sortie.info().why_no_device}")
    return OnHost


def bytes_in_use() -> int:
    gc.collect()
    synchronize(0)  # memory is freed in the order of streams
    found = c_uint64()
    call("sortie_device_memory_in_use", Settings({}), HOST, byref(found))
    return found.value


def sparse_operand(kind: str, xp: Any, rng: np.random.Generator) -> Any:
    """A matrix of 60 rows with three entries in each, of the library of the arrays."""
    offsets = np.arange(0, 181, 3, dtype=np.int32)
    columns = np.sort([rng.choice(60, 3, replace=False) for _ in range(60)], axis=1)
    parts = (offsets, columns.ravel().astype(np.int32), np.ones(180))
    if kind.startswith("torch"):
        return xp.module.sparse_csr_tensor(*map(xp.make, parts), size=(60, 60))
    module = "cupyx.scipy.sparse" if kind == "cupy" else "scipy.sparse"
    sparse = pytest.importorskip(module)
    offsets, columns, values = map(xp.make, parts)
    return sparse.csr_matrix((values, columns, offsets), shape=(60, 60))


@pytest.mark.parametrize("kind", ["numpy", *(kind for kind in KINDS if "cpu" not in kind)])
def test_memory_is_as_it_was_after_many_calls(kind, rng):
    xp = arrays(kind)
    keys = xp.make(rng.integers(0, 100, 3000, dtype=np.int32))
    values = xp.make(rng.integers(0, 100, 3000, dtype=np.int32))
    offsets = xp.make(np.arange(0, 3001, 30, dtype=np.int32))
    text = xp.make(rng.integers(97, 101, 2000).astype(np.uint8))
    options: dict[str, Any] = {"backend": "cuda"} if kind == "numpy" else {}

    calls: list[Callable[[], object]] = [
        lambda: sortie.sort(keys, **options),
        lambda: sortie.sort(keys, values=values, descending=True, **options),
        lambda: sortie.argsort(keys, dtype="int32", **options),
        lambda: sortie.segmented_sort(keys, offsets, values=values, **options),
        lambda: sortie.segmented_argsort(keys, offsets, dtype="int32", **options),
        lambda: sortie.top_k(keys, 100, **options),
        lambda: sortie.segmented_top_k(keys, 3, offsets, dtype="int32", **options),
        lambda: sortie.suffix_array(text, **options),
        lambda: sortie.lcp(text, **options),
        lambda: sortie.bwt(text, **options),
    ]
    if kind == "numpy":
        index = sortie.SuffixIndex(text, **options)
        calls += [lambda: index.count("ab"), lambda: index.locate("abc"), index.check]
    if not kind.startswith("jax"):
        A = sparse_operand(kind, xp, rng)
        plan = sortie.SpgemmPlan(A, **options)
        calls += [
            lambda: sortie.spgemm(A, **options),
            lambda: sortie.SpgemmPlan(A, **options).multiply(),
            plan.multiply,
        ]

    def refused() -> None:
        with pytest.raises(ValueError, match="values"):
            sortie.sort(keys, values=values[1:], **options)

    calls.append(refused)
    for one in calls:  # the first calls set up what is kept
        one()
    before = bytes_in_use()
    # Calls on host memory take longer, since they copy.
    for number in range(100 if kind == "numpy" else 1000):
        calls[number % len(calls)]()
    assert bytes_in_use() == before
