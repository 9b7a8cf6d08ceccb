# SPDX-License-Identifier: Apache-2.0
"""What the library computes, in plain Python and NumPy."""

from __future__ import annotations

import numpy as np


def total_order(keys: np.ndarray) -> np.ndarray:
    """Integers in the order that the library sorts keys by."""
    if keys.dtype.kind != "f":
        return keys
    bits = keys.view(np.dtype(f"int{8 * keys.dtype.itemsize}"))
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def sorted_reference(keys: np.ndarray, descending: bool = False) -> np.ndarray:
    """Positions of a stable sort, by NumPy."""
    order = total_order(keys)
    if order.dtype == np.bool_:
        order = order.astype(np.int8)
    # ~x reverses the order of integers, signed or not, and keeps equal ones equal.
    return np.argsort(~order if descending else order, kind="stable")


def record_ends(size, separators):
    """The end of the suffix at each position."""
    ends = np.full(size, size)
    for separator in reversed(list(separators)):
        ends[: separator + 1] = separator
    return ends


def suffix_array_reference(text: bytes, separators=()):
    ends = record_ends(len(text), separators)
    return sorted(range(len(text)), key=lambda i: (text[i : ends[i]], i))


def lcp_reference(text: bytes, suffixes, separators=()):
    ends = record_ends(len(text), separators)
    result = [0] * len(suffixes)
    for rank in range(1, len(suffixes)):
        first, second = (text[i : ends[i]] for i in suffixes[rank - 1 : rank + 1])
        while result[rank] < min(len(first), len(second)) and (
            first[result[rank]] == second[result[rank]]
        ):
            result[rank] += 1
    return result
