# SPDX-License-Identifier: Apache-2.0
"""The settings that every call of the package takes as keywords."""

from __future__ import annotations

import operator
from typing import Any, Callable, Mapping, TypedDict, Union

from ._library import BACKENDS

ProgressFunction = Callable[[str, int, int], object]
"""Called with the name of a phase, the units done and the total, 0 if it is unknown."""


class Options(TypedDict, total=False):
    """Keywords that every call accepts; keep them in one place for several calls.

    Parameters
    ----------
    threads : int
        Threads of the host; 0, the default, is OMP_NUM_THREADS if it is set, else all cores. The
        first call that runs on the host fixes the number for the process; a later call with another
        one is a ValueError.
    memory_budget : int
        Bytes that a call may take in addition to its operands and a sparse product; 0, the default,
        is all free memory. On a GPU, of its memory.
    progress : bool or callable
        True shows a bar of tqdm, if tqdm is installed and there is a terminal or a notebook. A
        callable is called with the name of the phase, the units done and the total.
    backend : {"auto", "cuda", "host"}
        Where calls on host memory run. Arrays on a GPU are always processed there.
    device : int
        The GPU that calls on host memory use. Arrays on a GPU are processed by the GPU that they
        are on.

    Examples
    --------
    >>> import sortie
    >>> careful = sortie.Options(backend="host", memory_budget=1 << 30)
    >>> sortie.sort([3, 1, 2], **careful)
    array([1, 2, 3])
    """

    threads: int
    memory_budget: int
    progress: Union[bool, ProgressFunction, None]
    backend: str
    device: int


_DEFAULTS: dict[str, Any] = {
    "threads": 0,
    "memory_budget": 0,
    "progress": None,
    "backend": "auto",
    "device": 0,
}


class Settings:
    """Checked options."""

    __slots__ = ("threads", "memory_budget", "progress", "backend", "device", "device_is_set")

    def __init__(self, options: Mapping[str, Any]) -> None:
        for name in options:
            if name not in _DEFAULTS:
                raise TypeError(
                    f"unexpected keyword argument {name!r}; options are {', '.join(_DEFAULTS)}"
                )
        given = {**_DEFAULTS, **options}
        self.threads = checked_count("threads", given["threads"], 2**31)
        self.memory_budget = checked_count("memory_budget", given["memory_budget"], 2**64)
        self.device = checked_count("device", given["device"], 2**31)
        self.device_is_set = "device" in options
        self.progress = given["progress"]
        if not (self.progress in (None, True, False) or callable(self.progress)):
            raise TypeError(f"progress is {self.progress!r}; expected a bool or a callable")
        try:
            self.backend = BACKENDS[given["backend"]]
        except (KeyError, TypeError):
            raise ValueError(
                f"backend is {given['backend']!r}; expected one of {', '.join(map(repr, BACKENDS))}"
            ) from None


def settings_of(options: Mapping[str, Any]) -> Settings:
    """The checked options of a call. Most calls have none."""
    return Settings(options) if options else _DEFAULT_SETTINGS


def checked_count(name: str, value: object, end: int) -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} is {value!r}; expected an int") from None
    if not 0 <= number < end:
        raise ValueError(f"{name} is {number}; expected 0 or more, and less than {end}")
    return number


_DEFAULT_SETTINGS = Settings({})
