# SPDX-License-Identifier: Apache-2.0
"""Calls against references, for operands that Hypothesis finds."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import KEY_DTYPES
from references import lcp_reference, sorted_reference, suffix_array_reference

import sortie

pytest.importorskip("hypothesis", reason="hypothesis is not installed")
scipy_sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.extra import numpy as st_numpy  # noqa: E402
from test_sparse import FORMATS, check, make  # noqa: E402

settings.register_profile("sortie", database=None, deadline=None)  # leaves no files behind
settings.load_profile("sortie")

texts = st.one_of(st.binary(max_size=60), st.text("ab", max_size=60).map(str.encode))


@given(
    keys=st_numpy.arrays(
        st.sampled_from(KEY_DTYPES[1:]), st.integers(0, 300), elements={"allow_nan": False}
    ),
    cuts=st.lists(st.integers(0, 300), max_size=20),
    descending=st.booleans(),
)
@settings(max_examples=150)
def test_any_keys_and_segments(keys, cuts, descending):
    offsets = np.array([0, *sorted(min(cut, keys.size) for cut in cuts), keys.size])
    positions = sortie.segmented_argsort(keys, offsets, descending=descending)
    for begin, end in zip(offsets[:-1], offsets[1:]):
        np.testing.assert_array_equal(
            positions[begin:end] - begin, sorted_reference(keys[begin:end], descending)
        )
    np.testing.assert_array_equal(
        sortie.sort(keys, descending=descending), keys[sorted_reference(keys, descending)]
    )


@given(
    shape=st.tuples(*[st.integers(0, 12)] * 3),
    seed=st.integers(0, 2**32),
    density=st.sampled_from([0.0, 0.2, 1.0]),
    form=st.sampled_from(FORMATS),
)
@settings(max_examples=100)
def test_any_shape(shape, seed, density, form):
    rng = np.random.default_rng(seed)
    rows, inner, cols = shape
    A = make(rng, rows, inner, density, kind=f"{form}_array")
    B = make(rng, inner, cols, density, kind=f"{form}_array")
    check(sortie.spgemm(A, B), A.toarray() @ B.toarray(), f"{form}_array")


@given(text=texts, cuts=st.sets(st.integers(0, 59), max_size=4))
@settings(max_examples=150)
def test_suffix_array_lcp_and_bwt(text, cuts):
    separators = sorted(cut for cut in cuts if cut < len(text))
    expected = suffix_array_reference(text, separators)
    suffixes = sortie.suffix_array(text, separators=separators)
    assert suffixes.dtype == np.uint32
    assert suffixes.tolist() == expected
    common = sortie.lcp(text, suffixes, separators=separators)
    assert common.tolist() == lcp_reference(text, expected, separators)
    assert common.tolist() == sortie.lcp(text, separators=separators).tolist()
    transform = sortie.bwt(text, suffixes, separators=separators)
    assert bytes(transform) == bytes(text[i - 1] for i in expected)


@given(text=texts, patterns=st.lists(st.text("ab", min_size=1, max_size=4).map(str.encode)))
@settings(max_examples=100)
def test_count_and_locate(text, patterns):
    index = sortie.SuffixIndex(text)
    expected = [
        {i for i in range(len(text)) if text.startswith(pattern, i)} for pattern in patterns
    ]
    assert index.count(patterns).tolist() == [len(places) for places in expected]
    offsets, positions = index.locate(patterns)
    assert offsets.dtype == np.int64
    for i, places in enumerate(expected):
        found = positions[offsets[i] : offsets[i + 1]]
        assert len(found) == len(places) and set(found.tolist()) == places
    begins, ends = index.ranges(patterns)
    for begin, end, places in zip(begins, ends, expected):
        assert set(index.suffixes[begin:end].tolist()) == places
