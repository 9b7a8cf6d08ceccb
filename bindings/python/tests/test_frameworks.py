# SPDX-License-Identifier: Apache-2.0
"""Arrays of PyTorch, CuPy and JAX, on the CPU and on a GPU, where they are installed."""

from __future__ import annotations

import gc
import importlib
from typing import Any

import numpy as np
import pytest
from conftest import random_keys
from references import sorted_reference

import sortie


class Torch:
    """Tensors on one device."""

    dtypes = "bool uint8 int8 int16 int32 float32 int64 float64".split()
    index_dtype = np.int64
    position_dtype = np.int64

    def __init__(self, device: str) -> None:
        self.module = importlib.import_module("torch")
        self.device = device
        if device == "cuda" and not self.module.cuda.is_available():
            pytest.skip("PyTorch finds no GPU")
        self.on_gpu = device == "cuda"

    def make(self, data: np.ndarray) -> Any:
        return self.module.from_numpy(np.ascontiguousarray(data).copy()).to(self.device)

    def read(self, tensor: Any) -> np.ndarray:
        assert isinstance(tensor, self.module.Tensor)
        assert tensor.device.type == self.device
        return tensor.cpu().numpy()

    def every_second(self, tensor: Any) -> Any:
        return tensor[::2]


class Cupy:
    """Arrays of CuPy."""

    dtypes = (
        "bool uint8 int8 uint16 int16 uint32 int32 float32 uint64 int64 float64".split()
    )
    index_dtype = np.int64
    position_dtype = np.uint32
    on_gpu = True

    def __init__(self) -> None:
        self.module = importlib.import_module("cupy")
        try:
            count = self.module.cuda.runtime.getDeviceCount()
        except self.module.cuda.runtime.CUDARuntimeError as error:
            pytest.skip(f"CuPy finds no GPU: {error}")
        assert count > 0

    def make(self, data: np.ndarray) -> Any:
        return self.module.asarray(data)

    def read(self, array: Any) -> np.ndarray:
        assert isinstance(array, self.module.ndarray)
        return array.get()

    def every_second(self, array: Any) -> Any:
        return array[::2]


class Jax:
    """Arrays of JAX on one device, without 64-bit types."""

    dtypes = "bool uint8 int8 uint16 int16 uint32 int32 float32".split()
    index_dtype = np.int32
    position_dtype = np.uint32

    def __init__(self, platform: str) -> None:
        self.module = importlib.import_module("jax")
        try:
            self.device = self.module.devices(platform)[0]
        except RuntimeError as error:
            pytest.skip(f"JAX has no {platform}: {error}")
        self.on_gpu = platform == "gpu"

    def make(self, data: np.ndarray) -> Any:
        return self.module.device_put(data, self.device)

    def read(self, array: Any) -> np.ndarray:
        assert isinstance(array, self.module.Array)
        assert array.devices() == {self.device}
        return np.asarray(array)

    def every_second(self, array: Any) -> Any:
        return array[::2]


KINDS = {
    "torch-cpu": lambda: Torch("cpu"),
    "torch-cuda": lambda: Torch("cuda"),
    "cupy": Cupy,
    "jax-cpu": lambda: Jax("cpu"),
    "jax-gpu": lambda: Jax("gpu"),
}


def library(kind: str) -> Any:
    pytest.importorskip(kind.partition("-")[0], reason=f"{kind.partition('-')[0]} is not installed")
    made = KINDS[kind]()
    if made.on_gpu and not sortie.info().devices:
        pytest.skip(f"the library finds no GPU: {sortie.info().why_no_device}")
    return made


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
    with pytest.raises(TypeError, match="keys has dtype float16; expected one of"):
        sortie.sort(torch.zeros(3, dtype=torch.float16))
    with pytest.raises(TypeError, match="layout torch.sparse_coo; expected a dense one"):
        sortie.sort(torch.zeros(3).to_sparse())
    with pytest.raises(TypeError, match="A is a tensor of layout torch.strided; .*to_sparse_csr"):
        sortie.spgemm(torch.eye(3))


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_torch_products(rng, device, index_dtype, dtype):
    sparse = pytest.importorskip("scipy.sparse")
    xp = library(f"torch-{device}")
    torch = xp.module

    def make(rows, cols):
        host = sparse.random(rows, cols, 0.1, "csr", dtype=np.float64, random_state=rng.integers(99))
        host = host.astype(dtype)
        arrays = (host.indptr.astype(index_dtype), host.indices.astype(index_dtype), host.data)
        return host, torch.sparse_csr_tensor(*map(xp.make, arrays), size=(rows, cols))

    (A, first), (B, second) = make(40, 60), make(60, 30)
    C = sortie.spgemm(first, second)
    assert C.layout == torch.sparse_csr and C.device.type == device
    assert xp.read(C.crow_indices()).dtype == xp.read(C.col_indices()).dtype == index_dtype
    assert C.dtype == first.dtype
    expected = (A @ B).toarray()
    np.testing.assert_allclose(xp.read(C.to_dense()), expected, rtol=1e-5)
    plan = sortie.SpgemmPlan(first, second)
    np.testing.assert_allclose(xp.read(plan.multiply().to_dense()), expected, rtol=1e-5)
    D = plan.multiply(2 * first.values())
    assert plan.multiply(out=C) is C
    np.testing.assert_allclose(xp.read(C.values()) * 2, xp.read(D.values()), rtol=1e-5)
    with pytest.raises(TypeError, match="B is a matrix of SciPy"):
        sortie.spgemm(first, B)


# --- CuPy -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_cupy_products(cupy, rng, form, dtype):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    cupyx_sparse = pytest.importorskip("cupyx.scipy.sparse")
    host = scipy_sparse.random(50, 50, 0.1, "csr", random_state=1).astype(dtype)
    A = cupyx_sparse.csr_matrix(host).asformat(form)
    C = sortie.spgemm(A)
    assert C.format == form and C.dtype == dtype
    np.testing.assert_allclose(C.toarray().get(), (host @ host).toarray(), rtol=1e-5)
    if form == "coo":
        return
    assert C.has_canonical_format and C.indices.dtype == C.indptr.dtype == np.int32
    plan = sortie.SpgemmPlan(A)
    D = plan.multiply(2 * A.data)
    np.testing.assert_allclose(D.toarray().get(), 4 * (host @ host).toarray(), rtol=1e-5)
    with pytest.raises(ValueError, match="drop_zeros is for matrices in host memory"):
        sortie.spgemm(A, drop_zeros=True)
    with cupy.cuda.Stream(non_blocking=True), pytest.raises(ValueError, match="current stream"):
        plan.multiply()


def test_a_cupy_matrix_that_is_not_canonical(cupy):
    cupyx_sparse = pytest.importorskip("cupyx.scipy.sparse")
    A = cupyx_sparse.csr_matrix(
        (cupy.array([1.0, 2, 3, 4]), cupy.array([2, 0, 2, 1]), cupy.array([0, 3, 3, 4])), shape=(3, 3)
    )
    C = sortie.spgemm(A)
    np.testing.assert_array_equal(
        C.toarray().get(), np.linalg.matrix_power(np.array([[2.0, 0, 4], [0, 0, 0], [0, 4, 0]]), 2)
    )
    assert A.nnz == 4


def test_empty_cupy_products(cupy):
    cupyx_sparse = pytest.importorskip("cupyx.scipy.sparse")
    A = cupyx_sparse.csr_matrix((3, 3), dtype=np.float64)
    assert sortie.spgemm(A).nnz == 0


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
