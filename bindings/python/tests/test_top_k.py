# SPDX-License-Identifier: Apache-2.0
"""Selections from NumPy arrays against sorts by NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import KEY_DTYPES, random_keys
from references import sorted_reference

import sortie

each_dtype = pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
each_end = pytest.mark.parametrize("largest", [False, True], ids=["least", "largest"])


@each_dtype
@each_end
@pytest.mark.parametrize("size, k", [(0, 3), (5, 9), (33, 0), (10_000, 1), (10_000, 60), (300, 300)])
def test_top_k(rng, dtype, largest, size, k):
    keys = random_keys(rng, dtype, size)
    before = keys.copy()
    expected = sorted_reference(keys, largest)[:k]
    best, positions = sortie.top_k(keys, k, largest=largest)
    assert best.dtype == dtype and positions.dtype == np.int64
    np.testing.assert_array_equal(positions, expected)
    np.testing.assert_array_equal(best, keys[expected])
    np.testing.assert_array_equal(keys, before)


@each_dtype
@each_end
@pytest.mark.parametrize("k", [1, 7, 40])
def test_segments(rng, dtype, largest, k):
    keys = random_keys(rng, dtype, 5000)
    offsets = np.sort(rng.integers(0, 5001, 300))
    best, positions = sortie.segmented_top_k(keys, k, offsets, largest=largest, dtype="int32")
    assert best.shape == positions.shape == (299, k)
    assert best.dtype == dtype and positions.dtype == np.int32
    for row, (begin, end) in enumerate(zip(offsets[:-1], offsets[1:])):
        expected = begin + sorted_reference(keys[begin:end], largest)[:k]
        np.testing.assert_array_equal(positions[row, : len(expected)], expected)
        np.testing.assert_array_equal(best[row, : len(expected)], keys[expected])
        assert (positions[row, len(expected) :] == -1).all()
        assert (best[row, len(expected) :] == 0).all()


def test_results_in_any_order(rng):
    keys = rng.integers(0, 100, 3000, dtype=np.int16)
    best, positions = sortie.top_k(keys, 50, sorted=False)
    np.testing.assert_array_equal(np.sort(positions), np.sort(sorted_reference(keys, True)[:50]))
    np.testing.assert_array_equal(best, keys[positions])


def test_segments_in_any_order_with_gaps():
    keys = np.array([5, 1, 4, 2, 7])
    begin, end = np.array([3, 0, 2]), np.array([5, 2, 2])
    best, positions = sortie.segmented_top_k(keys, 1, begin=begin, end=end)
    assert best.tolist() == [[7], [5], [0]]
    assert positions.tolist() == [[4], [0], [-1]]
    assert sortie.segmented_top_k(keys, 0, [0, 4])[0].shape == (1, 0)
    assert sortie.segmented_top_k(keys, 2, [0])[1].shape == (0, 2)


def test_arrays_that_are_not_contiguous(rng):
    keys = rng.random(1000)
    best, positions = sortie.top_k(keys[::2], 3)
    np.testing.assert_array_equal(best, np.sort(keys[::2])[::-1][:3])
    np.testing.assert_array_equal(keys[::2][positions], best)


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="k is -1; expected 0 or more"):
        sortie.top_k([1, 2], -1)
    with pytest.raises(TypeError, match="float"):
        sortie.top_k([1, 2], 1.5)
    with pytest.raises(ValueError, match=r"keys has shape \(1, 2\)"):
        sortie.top_k([[1, 2]], 1)
    with pytest.raises(TypeError, match="dtype of positions has dtype float64"):
        sortie.top_k([1, 2], 1, dtype=float)
    with pytest.raises(TypeError, match="either offsets, or both begin and end"):
        sortie.segmented_top_k([1, 2], 1)
    for offsets in ([0, 3], [2, 1], [-1, 2]):
        with pytest.raises(ValueError, match="segment 0"):
            sortie.segmented_top_k(np.array([2, 1]), 1, np.array(offsets))
