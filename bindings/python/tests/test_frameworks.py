# SPDX-License-Identifier: Apache-2.0
"""Arrays of PyTorch, CuPy and JAX, on the CPU and on a GPU, where they are installed."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from conftest import random_keys
from frameworks import KINDS, Jax, library
from references import sorted_reference

import sortie


@pytest.fixture(params=KINDS)
def xp(request: pytest.FixtureRequest) -> Any:
    return library(request.param)


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture
def cupy() -> Any:
    return library("cupy").module


@pytest.mark.parametrize("descending", [False, True])
def test_sorts(xp, rng, descending):
    for dtype in xp.dtypes:
        data = random_keys(rng, np.dtype(dtype), 20_000)
        expected = sorted_reference(data, descending)
        keys = xp.make(data)
        result = xp.read(sortie.sort(keys, descending=descending))
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, data[expected])
        positions = xp.read(sortie.argsort(keys, descending=descending))
        assert positions.dtype == xp.index_dtype
        np.testing.assert_array_equal(positions, expected)
        np.testing.assert_array_equal(xp.read(keys), data)


def test_segmented_sorts(xp, rng):
    data = rng.integers(0, 100, 1000, dtype=np.int32)
    cuts = np.array([0, 0, 5, 300, 301, 1000], np.int32)
    expected = np.lexsort((data, np.repeat(np.arange(5), np.diff(cuts))))
    keys = xp.make(data)
    for offsets in (xp.make(cuts), cuts, cuts.tolist()):
        np.testing.assert_array_equal(
            xp.read(sortie.segmented_sort(keys, offsets)), data[expected]
        )
        np.testing.assert_array_equal(
            xp.read(sortie.segmented_argsort(keys, offsets, dtype="int32")), expected
        )
    payload = xp.make(np.arange(1000, dtype=np.int32))
    _, moved = sortie.segmented_sort(
        keys, begin=xp.make(cuts[:-1]), end=xp.make(cuts[1:]), values=payload, stable=True
    )
    np.testing.assert_array_equal(xp.read(moved), expected)


@pytest.mark.parametrize("largest", [False, True])
def test_top_k(xp, rng, largest):
    cuts = np.array([0, 0, 5, 300, 301, 20_000], np.int32)
    for dtype in xp.dtypes:
        data = random_keys(rng, np.dtype(dtype), 20_000)
        expected = sorted_reference(data, largest)[:100]
        best, positions = map(xp.read, sortie.top_k(xp.make(data), 100, largest=largest))
        assert best.dtype == dtype and positions.dtype == xp.index_dtype
        np.testing.assert_array_equal(positions, expected)
        np.testing.assert_array_equal(best, data[expected])
        rows = sortie.segmented_top_k(
            xp.make(data), 3, xp.make(cuts), largest=largest, dtype="int32"
        )
        best, positions = map(xp.read, rows)
        for row, (begin, end) in enumerate(zip(cuts[:-1], cuts[1:])):
            expected = np.full(3, -1)
            found = begin + sorted_reference(data[begin:end], largest)[:3]
            expected[: len(found)] = found
            np.testing.assert_array_equal(positions[row], expected)
            np.testing.assert_array_equal(best[row][: len(found)], data[found])


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32])
@pytest.mark.parametrize("columns", [1, 3, 5])
def test_values_are_rows(xp, rng, dtype, columns):
    data = rng.integers(0, 100, 1000, dtype=np.int32)
    rows = rng.integers(0, 100, (1000, columns)).astype(dtype)
    keys, values = sortie.sort(xp.make(data), values=xp.make(rows), stable=True)
    expected = np.argsort(data, kind="stable")
    np.testing.assert_array_equal(xp.read(keys), data[expected])
    np.testing.assert_array_equal(xp.read(values), rows[expected])


def test_nothing(xp):
    nothing = xp.make(np.empty(0, np.float32))
    assert xp.read(sortie.sort(nothing)).shape == (0,)
    assert xp.read(sortie.argsort(nothing)).shape == (0,)
    assert xp.read(sortie.segmented_sort(nothing, [0, 0])).shape == (0,)


def test_arrays_that_are_not_contiguous(xp, rng):
    data = rng.integers(0, 100, 1000, dtype=np.int32)
    result = sortie.sort(xp.every_second(xp.make(data)))
    np.testing.assert_array_equal(xp.read(result), np.sort(data[::2]))


def test_in_place(xp):
    keys = xp.make(np.array([3, 1, 2], np.int32))
    if isinstance(xp, Jax):
        with pytest.raises(TypeError, match="out is "):
            sortie.sort(keys, out=keys)
        return
    assert sortie.sort(keys, out=keys) is keys
    assert xp.read(keys).tolist() == [1, 2, 3]
    values = xp.make(np.array([7, 8, 9], np.int32))
    assert sortie.sort(keys, values=values, out=(keys, values), descending=True)[1] is values
    assert xp.read(values).tolist() == [9, 8, 7]
    with pytest.raises(ValueError, match="out is not contiguous"):
        sortie.sort(keys, out=xp.every_second(xp.make(np.zeros(6, np.int32))))


def test_operands_in_different_places_are_refused(xp):
    if not xp.on_gpu:
        pytest.skip("for arrays on a GPU")
    keys = xp.make(np.array([3, 1, 2], np.int32))
    with pytest.raises(TypeError, match="offsets is on GPU 0 and keys in host memory"):
        sortie.segmented_sort(np.array([3, 1, 2]), keys)
    with pytest.raises(TypeError, match="out"):
        sortie.sort(keys, out=np.zeros(3, np.int32))


def test_suffix_arrays(xp, rng):
    data = rng.integers(97, 100, 5000).astype(np.uint8)
    text = xp.make(data)
    suffixes = sortie.suffix_array(text)
    expected = sortie.suffix_array(data)
    assert xp.read(suffixes).dtype == xp.position_dtype
    np.testing.assert_array_equal(xp.read(suffixes), expected)
    np.testing.assert_array_equal(xp.read(sortie.lcp(text, suffixes)), sortie.lcp(data))
    np.testing.assert_array_equal(xp.read(sortie.bwt(text, suffixes)), sortie.bwt(data))
    tail = suffixes[4000:]
    del suffixes
    gc.collect()  # the rest still has the memory of the library
    np.testing.assert_array_equal(xp.read(tail), expected[4000:])
    assert xp.read(sortie.suffix_array(text[:0])).shape == (0,)
    if not isinstance(xp, Jax):  # its separators need 64-bit types
        for ends in ([100, 3000], np.array([100, 3000], np.uint64), xp.make(np.array([100, 3000]))):
            records = sortie.suffix_array(text, separators=ends)
            expected = sortie.suffix_array(data, separators=[100, 3000])
            np.testing.assert_array_equal(xp.read(records), expected)


def test_an_index_is_for_host_memory(xp):
    text = xp.make(np.frombuffer(b"banana", np.uint8))
    if xp.on_gpu:
        with pytest.raises(TypeError, match="text is on GPU 0; expected host memory"):
            sortie.SuffixIndex(text)
    else:
        assert sortie.SuffixIndex(text).count("na") == 2


def test_an_index_is_searched_on_a_gpu(rng):
    if not sortie.info().devices:
        pytest.skip("the library finds no GPU")
    data = rng.integers(97, 100, 5000).astype(np.uint8)
    kmers = np.lib.stride_tricks.sliding_window_view(data, 7)[:100]
    on_gpu = sortie.SuffixIndex(data, backend="cuda")
    on_host = sortie.SuffixIndex(data, backend="host")
    np.testing.assert_array_equal(on_gpu.count(kmers), on_host.count(kmers))
    for found, expected in zip(on_gpu.locate(kmers), on_host.locate(kmers)):
        np.testing.assert_array_equal(found, expected)


# --- PyTorch --------------------------------------------------------------------------------------


def test_torch_tensors_share_memory_on_the_cpu(torch):
    keys = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
    result = sortie.sort(keys)
    assert result.tolist() == [1.0, 2.0, 3.0] and not result.requires_grad
    assert keys.tolist() == [3.0, 1.0, 2.0]


def test_refused_tensors(torch):
    with pytest.raises(TypeError, match="keys has dtype torch.bfloat16"):
        sortie.sort(torch.zeros(3, dtype=torch.bfloat16))
    with pytest.raises(TypeError, match="keys has dtype complex64; expected one of"):
        sortie.sort(torch.zeros(3, dtype=torch.complex64))
    with pytest.raises(TypeError, match="layout torch.sparse_coo; expected a dense one"):
        sortie.sort(torch.zeros(3).to_sparse())
    with pytest.raises(TypeError, match="A is a tensor of layout torch.strided; .*to_sparse_csr"):
        sortie.spgemm(torch.eye(3))


# --- CuPy -----------------------------------------------------------------------------------------


def test_work_is_ordered_on_the_current_stream(cupy, rng):
    data = rng.integers(0, 1 << 30, 1 << 20, dtype=np.int32)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        keys = cupy.zeros(data.size, np.int32)
        for _ in range(50):  # keeps the stream busy until the keys are there
            keys = cupy.sqrt(cupy.arange(1 << 20)).astype(np.int32)
        keys.set(data)
        ordered = sortie.sort(keys)
        offsets = cupy.asarray(np.array([0, data.size // 2, data.size]))
        halves = sortie.segmented_sort(keys, offsets)
        total = (ordered.astype(np.int64) - halves).sum()
    stream.synchronize()
    assert int(total) == 0
    np.testing.assert_array_equal(ordered.get(), np.sort(data))


def test_other_objects_on_a_gpu_become_arrays_of_cupy(cupy):
    array = cupy.asarray(np.array([3, 1, 2], np.int32))

    class Interface:
        __cuda_array_interface__ = array.__cuda_array_interface__

    class Dlpack:
        def __dlpack__(self, **arguments):
            return array.__dlpack__(**arguments)

        def __dlpack_device__(self):
            return array.__dlpack_device__()

    for operand in (Interface(), Dlpack()):
        result = sortie.sort(operand)
        assert isinstance(result, cupy.ndarray)
        assert result.get().tolist() == [1, 2, 3]


def test_dlpack_in_host_memory():
    class Dlpack:
        def __init__(self, data):
            self.data = data

        def __dlpack__(self, **arguments):
            return self.data.__dlpack__(**arguments)

        def __dlpack_device__(self):
            return self.data.__dlpack_device__()

    result = sortie.sort(Dlpack(np.array([3, 1, 2])))
    assert isinstance(result, np.ndarray) and result.tolist() == [1, 2, 3]


# --- JAX ------------------------------------------------------------------------------------------


def test_jax_refusals():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    with pytest.raises(TypeError):
        jax.jit(sortie.sort)(jax.numpy.arange(3))
