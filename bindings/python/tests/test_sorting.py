# SPDX-License-Identifier: Apache-2.0
"""Sorts of NumPy arrays against NumPy's own."""

from __future__ import annotations

import re

import numpy as np
import pytest
from conftest import KEY_DTYPES, random_keys
from references import sorted_reference

import sortie

SIZES = [0, 1, 2, 33, 10_000]
each_dtype = pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
each_order = pytest.mark.parametrize("descending", [False, True], ids=["ascending", "descending"])


@each_dtype
@each_order
@pytest.mark.parametrize("size", SIZES)
def test_sort_and_argsort(rng, dtype, descending, size):
    keys = random_keys(rng, dtype, size)
    before = keys.copy()
    expected = sorted_reference(keys, descending)
    result = sortie.sort(keys, descending=descending)
    assert result.dtype == dtype
    assert not np.shares_memory(result, keys)
    np.testing.assert_array_equal(result, keys[expected])
    positions = sortie.argsort(keys, descending=descending)
    assert positions.dtype == np.int64
    np.testing.assert_array_equal(positions, expected)
    np.testing.assert_array_equal(keys, before)


@each_dtype
@each_order
def test_segments_as_lexsort(rng, dtype, descending):
    keys = random_keys(rng, dtype, 5000)
    offsets = np.sort(rng.integers(0, 5001, 300))
    offsets[0], offsets[-1] = 0, 5000
    expected = np.concatenate(
        [
            begin + sorted_reference(keys[begin:end], descending)
            for begin, end in zip(offsets[:-1], offsets[1:])
        ]
    )
    np.testing.assert_array_equal(
        sortie.segmented_argsort(keys, offsets, descending=descending), expected
    )
    result = sortie.segmented_sort(keys, offsets, descending=descending)
    np.testing.assert_array_equal(result, keys[expected])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floating_point_keys_are_in_total_order(dtype):
    negative_nan = np.copysign(dtype(np.nan), dtype(-1))
    expected = np.array([negative_nan, -np.inf, -1, -0.0, 0.0, 1, np.inf, np.nan], dtype)
    result = sortie.sort(expected[[7, 4, 2, 0, 6, 3, 1, 5]])
    assert result.tobytes() == expected.tobytes()
    assert sortie.sort(result, descending=True).tobytes() == expected[::-1].tobytes()


@pytest.mark.parametrize(
    "values",
    [
        np.arange(1000, dtype=np.uint32),
        np.arange(1000, dtype=np.complex64),
        np.arange(1000, dtype=np.int8),
        np.arange(3000, dtype=np.uint8).reshape(1000, 3),
        np.arange(1000).astype("U7"),
        np.rec.fromarrays([np.arange(1000), np.arange(1000.0)], names="a,b"),
        np.empty((1000, 0)),
    ],
    ids=["u4", "c8", "i1", "rows", "strings", "records", "nothing"],
)
def test_values_of_any_size_move_with_the_keys(rng, values):
    keys = rng.integers(0, 50, 1000, dtype=np.int32)
    expected = np.argsort(keys, kind="stable")
    sorted_keys, sorted_values = sortie.sort(keys, values=values, stable=True)
    np.testing.assert_array_equal(sorted_keys, keys[expected])
    assert sorted_values.dtype == values.dtype
    np.testing.assert_array_equal(sorted_values, values[expected])


def test_segmented_values(rng):
    keys = rng.random(1000)
    values = np.arange(1000)
    offsets = [0, 10, 10, 500, 1000]
    sorted_keys, sorted_values = sortie.segmented_sort(keys, offsets, values=values)
    np.testing.assert_array_equal(keys[sorted_values], sorted_keys)
    np.testing.assert_array_equal(sorted_values, sortie.segmented_argsort(keys, offsets))


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_offsets_of_every_type(dtype):
    keys = np.array([3, 1, 2, 9, 8, 7])
    offsets = np.array([0, 3, 6], dtype)
    assert sortie.segmented_sort(keys, offsets).tolist() == [1, 2, 3, 7, 8, 9]
    positions = sortie.segmented_argsort(keys, offsets, dtype=dtype)
    assert positions.dtype == dtype
    assert positions.tolist() == [1, 2, 0, 5, 4, 3]


def test_segments_in_any_order_with_gaps():
    keys = np.array([5, 4, 9, 3, 2, 1])
    begin, end = np.array([3, 0, 1]), np.array([6, 2, 1])
    assert sortie.segmented_sort(keys, begin=begin, end=end).tolist() == [4, 5, 9, 1, 2, 3]
    assert sortie.segmented_argsort(keys, begin=begin, end=end).tolist() == [1, 0, 2, 5, 4, 3]


def test_nothing_to_sort():
    nothing = np.empty(0, np.float32)
    for result in (
        sortie.sort(nothing),
        sortie.segmented_sort(nothing, [0]),
        sortie.segmented_sort(nothing, [0, 0, 0]),
        sortie.segmented_sort(nothing, begin=[], end=[]),
    ):
        assert result.dtype == np.float32 and result.shape == (0,)
    assert sortie.argsort(nothing).shape == (0,)
    assert sortie.segmented_argsort(nothing, [0, 0]).shape == (0,)
    assert sortie.segmented_sort(np.array([2, 1]), [0]).tolist() == [2, 1]


# --- Memory ---------------------------------------------------------------------------------------


def test_in_place():
    keys = np.array([3, 1, 2])
    assert sortie.sort(keys, out=keys) is keys
    assert keys.tolist() == [1, 2, 3]
    values = np.array([7, 8, 9], np.uint8)
    result = sortie.sort(keys, values=values, out=(keys, values), descending=True)
    assert result[0] is keys and result[1] is values
    assert keys.tolist() == [3, 2, 1] and values.tolist() == [9, 8, 7]
    assert sortie.segmented_sort(keys, [1, 3], out=keys) is keys
    assert keys.tolist() == [3, 1, 2]


def test_one_of_keys_and_values_in_place():
    keys, values = np.array([3, 1, 2]), np.array([7, 8, 9])
    out = np.empty_like(keys)
    sortie.sort(keys, values=values, out=(out, values))
    assert out.tolist() == [1, 2, 3] and values.tolist() == [8, 9, 7]
    sortie.sort(keys, values=values, out=(keys, out))
    assert keys.tolist() == [1, 2, 3] and out.tolist() == [9, 7, 8]


def test_out_may_be_another_array_or_overlap():
    keys = np.arange(10)[::-1].copy()
    out = np.empty_like(keys)
    assert sortie.sort(keys, out=out) is out
    assert out.tolist() == list(range(10)) and keys[0] == 9
    assert sortie.sort(keys[:8], out=keys[2:]).tolist() == list(range(2, 10))
    assert sortie.sort(keys[::-1][:10], out=keys).tolist() == sorted(keys.tolist())


@pytest.mark.parametrize(
    "out, error, message",
    [
        (np.empty(4, np.int64), ValueError, r"out has shape \(4,\) and dtype int64; expected \(3,\)"),
        (np.empty(3, np.int32), ValueError, "out has shape .* dtype int32; expected .* int64"),
        (np.empty(6, np.int64)[::2], ValueError, "out is not contiguous"),
        (np.frombuffer(bytes(24), np.int64), ValueError, "out is read-only"),
        ([0, 0, 0], TypeError, "out is not an array"),
    ],
    ids=["shape", "dtype", "strided", "read-only", "list"],
)
def test_unusable_out_is_refused(out, error, message):
    with pytest.raises(error, match=message):
        sortie.sort(np.array([3, 1, 2]), out=out)


def test_out_for_values_is_a_pair():
    keys = np.array([2, 1])
    with pytest.raises(TypeError, match="pair"):
        sortie.sort(keys, values=keys.copy(), out=keys)


def test_read_only_strided_swapped_and_unaligned_keys():
    expected = [1, 2, 3, 9]
    keys = np.array([9, 1, 3, 2])
    frozen = keys.copy()
    frozen.flags.writeable = False
    strided = np.repeat(keys, 2)[::2]
    swapped = keys.astype(">i8")
    unaligned = np.frombuffer(b"x" + keys.tobytes(), np.int64, offset=1)
    for operand in (frozen, strided, keys[::-1], swapped, unaligned, keys.tolist()):
        assert sortie.sort(operand).tolist() == expected
        assert np.asarray(operand)[sortie.argsort(operand)].tolist() == expected
    assert sortie.sort(swapped).dtype == np.int64


# --- Refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "keys",
    [
        np.zeros(2, np.complex64),
        np.zeros(2, np.longdouble),
        np.array(["a", "b"]),
        np.array(["2020-01-01"], "M8[D]"),
        np.array([1, None]),
    ],
    ids=lambda keys: str(keys.dtype),
)
@pytest.mark.parametrize("call", [sortie.sort, sortie.argsort])
def test_other_types_of_keys_are_refused(call, keys):
    found = re.escape(str(keys.dtype))
    with pytest.raises(TypeError, match=f"keys has dtype {found}; expected one of .*float32, float64"):
        call(keys)


def test_objects_that_are_no_arrays_are_refused():
    with pytest.raises(TypeError, match="keys is a dict"):
        sortie.sort({"a": 1})
    with pytest.raises(TypeError, match="masked"):
        sortie.sort(np.ma.array([1, 2], mask=[True, False]))
    with pytest.raises(TypeError, match="values has dtype object"):
        sortie.sort([2, 1], values=np.array([None, {}]))


def test_shapes_are_checked():
    with pytest.raises(ValueError, match=r"keys has shape \(2, 2\); expected .* one dimension"):
        sortie.sort(np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"keys has shape \(\)"):
        sortie.argsort(np.float64(1))
    with pytest.raises(ValueError, match=r"values has shape \(3,\) and keys has shape \(2,\)"):
        sortie.sort([2, 1], values=[1, 2, 3])
    with pytest.raises(ValueError, match="begin has shape .*, end has shape"):
        sortie.segmented_sort([2, 1], begin=[0], end=[1, 2])
    with pytest.raises(ValueError, match="one element more"):
        sortie.segmented_sort([2, 1], [])


@pytest.mark.parametrize("offsets", [[0, 3], [2, 1], [-1, 2]])
def test_offsets_beyond_the_array_are_refused(offsets):
    keys = np.array([2, 1])
    for call in (sortie.segmented_sort, sortie.segmented_argsort):
        with pytest.raises(ValueError, match="segment 0"):
            call(keys, np.array(offsets))
    assert keys.tolist() == [2, 1]


@pytest.mark.parametrize(
    "arguments", [{}, {"begin": [0]}, {"offsets": [0, 1], "end": [1]}, {"end": [1]}]
)
def test_segments_are_given_in_one_way(arguments):
    with pytest.raises(TypeError, match="either offsets, or both begin and end"):
        sortie.segmented_sort([1], **arguments)


def test_types_of_offsets_and_positions_are_checked():
    with pytest.raises(TypeError, match="offsets has dtype float64; expected one of int32"):
        sortie.segmented_sort([1], [0.0, 1.0])
    with pytest.raises(TypeError, match="dtype of positions has dtype float64"):
        sortie.argsort([1], dtype=float)


# --- Outputs that overlap -------------------------------------------------------------------------


def test_outputs_may_be_the_operands_of_each_other():
    keys, values = np.array([3, 1, 2]), np.array([30, 10, 20])
    sorted_keys, moved = sortie.sort(keys, values=values, out=(values, keys))
    assert sorted_keys is values and moved is keys
    assert sorted_keys.tolist() == [1, 2, 3] and moved.tolist() == [10, 20, 30]


def test_an_output_over_the_other_operand():
    memory = np.array([30, 10, 20, 0])
    keys, out = np.array([3, 1, 2]), np.empty(3, int)
    sorted_keys, moved = sortie.sort(keys, values=memory[:3], out=(memory[1:], out))
    assert sorted_keys.tolist() == [1, 2, 3] and moved.tolist() == [10, 20, 30]


def test_outputs_that_overlap_are_refused():
    out = np.empty(3, int)
    with pytest.raises(ValueError, match="overlap"):
        sortie.sort(np.array([3, 1, 2]), values=np.array([30, 10, 20]), out=(out, out))
