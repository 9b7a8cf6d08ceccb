# SPDX-License-Identifier: Apache-2.0
"""Calls of the C interface: a context per thread, settings, errors, cancellation."""

from __future__ import annotations

import functools
import os
import threading
import weakref
from types import FrameType
from typing import Any, NamedTuple, Optional

# The functions of `signal` without its enumerators, which take longer than a short call.
from _signal import SIGINT, getsignal, signal  # type: ignore[import]

from . import _errors, _library, _progress
from ._library import lib
from ._options import ProgressFunction, Settings


class Place(NamedTuple):
    """Where the arrays of a call are."""

    memory: int
    device: int = 0
    stream: int = 0
    """The caller's CUDA stream, for device memory."""

    @property
    def on_device(self) -> bool:
        return self.memory == _library.DEVICE_MEMORY


HOST = Place(_library.HOST_MEMORY)


@functools.lru_cache(maxsize=256)
def device_place(device: int, stream: int) -> Place:
    """A place on a GPU: the same object for the same stream."""
    return Place(_library.DEVICE_MEMORY, device, stream)


class _Context:
    """A sortie_context and the state of the call that uses it.

    The library calls `_on_progress` on the calling thread. An exception must not pass through C, so
    it is stored there and raised when the call has returned.
    """

    def __init__(self) -> None:
        self.pointer = lib.sortie_context_create()
        if not self.pointer:
            raise MemoryError("no memory for a context of the library")
        self._report: Optional[ProgressFunction] = None
        self._failure: Optional[BaseException] = None
        self._interrupt: Optional[tuple[int, Optional[FrameType]]] = None
        self._applied: Optional[tuple[int, int, int, int, int]] = None
        self._settings: Optional[Settings] = None  # those of the call before
        self._place: Optional[Place] = None
        # The callback refers to the context weakly: a cycle would keep both until a collection.
        this = weakref.ref(self)

        def on_progress(_user: object, phase: bytes, done: int, total: int) -> int:
            context = this()
            return 1 if context is None else context._on_progress(phase, done, total)

        self._callback = _library.Progress(on_progress)
        self._check(lib.sortie_set_progress(self.pointer, self._callback, None))
        weakref.finalize(self, lib.sortie_context_destroy, self.pointer).atexit = False

    def _on_progress(self, phase: bytes, done: int, total: int) -> int:
        try:
            if self._interrupt is None and self._failure is None and self._report is not None:
                self._report(phase.decode(), done, total)
        except BaseException as failure:
            self._failure = failure
        return int(self._interrupt is not None or self._failure is not None)

    def _on_interrupt(self, number: int, frame: Optional[FrameType]) -> None:
        self._interrupt = (number, frame)

    def _check(self, status: int) -> None:
        if status != _library.OK:
            message = lib.sortie_last_error(self.pointer).decode(errors="replace")
            raise _errors.exception(status, message)

    def _apply(self, settings: Settings, place: Place) -> None:
        device = place.device if place.on_device else settings.device
        wanted = (settings.backend, device, place.stream, settings.threads, settings.memory_budget)
        if wanted == self._applied:
            self._settings, self._place = settings, place
            return
        self._applied = self._settings = self._place = None
        self._check(lib.sortie_set_backend(self.pointer, settings.backend))
        self._check(lib.sortie_set_device(self.pointer, device))
        self._check(lib.sortie_set_stream(self.pointer, place.stream or None))
        self._check(lib.sortie_set_threads(self.pointer, settings.threads))
        self._check(lib.sortie_set_memory_budget(self.pointer, settings.memory_budget))
        self._applied = wanted
        self._settings, self._place = settings, place

    def call(self, name: str, settings: Settings, place: Place, arguments: tuple[Any, ...]) -> None:
        # Most calls have the settings and the place of the one before: the same objects.
        if self._settings is not settings or self._place is not place:
            self._apply(settings, place)
        self._failure = None
        self._interrupt = None
        if settings.progress is not None:
            self._report = _progress.reporter(settings.progress)
        # Python runs the handler of Ctrl-C when the library calls back, where it would raise in the
        # middle of the callback. This handler records the signal, and the caller's handler runs after
        # the call.
        handler = getsignal(SIGINT)
        takes_signals = callable(handler) and threading.get_ident() == _Process.main_thread
        if takes_signals:
            signal(SIGINT, self._on_interrupt)
        try:
            status = getattr(lib, name)(self.pointer, *arguments)
        finally:
            if takes_signals:
                signal(SIGINT, handler)
            if self._report is not None:
                if isinstance(self._report, _progress.Bars):
                    self._report.close()
                self._report = None
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        if self._interrupt is not None:
            interrupt, self._interrupt = self._interrupt, None
            handler(*interrupt)
            if status == _library.CANCELLED:
                raise KeyboardInterrupt
        if status:
            self._check(status)


class _Contexts(threading.local):
    """The idle contexts of a thread: usually one, and more where a progress function calls the
    library."""

    def __init__(self) -> None:
        self.idle: list[_Context] = []


_contexts = _Contexts()


class _Process:
    """Whether the library can be called in this process.

    fork() copies a process without its threads. A copy of one whose library has started its threads
    would wait for them without end, and CUDA cannot be used in it either.
    """

    main_thread = threading.main_thread().ident
    called = False
    forked_after_call = False

    @classmethod
    def after_fork(cls) -> None:
        cls.main_thread = threading.get_ident()  # the thread that forked
        cls.forked_after_call = cls.called


os.register_at_fork(after_in_child=_Process.after_fork)


def call(name: str, settings: Settings, place: Place, *arguments: Any) -> None:
    """Calls a function of the C interface with a context and the given arguments.

    Raises
    ------
    ValueError, MemoryError, OSError, DeviceError, Error
        As the status says, with the message of the library.
    KeyboardInterrupt
        Ctrl-C; the work was cancelled.
    """
    if _Process.forked_after_call:
        raise _errors.Error(
            "this process was forked from one that had called Sortie, whose threads it does not have;"
            " start it by multiprocessing.get_context('spawn') or 'forkserver'"
        )
    if not _Process.called:
        _Process.called = True
    idle = _contexts.idle
    context = idle.pop() if idle else _Context()
    try:
        context.call(name, settings, place, arguments)
    finally:
        idle.append(context)


_found_device = False


def require_device(argument: str, device: int) -> None:
    """Refuses an array on a GPU where the library cannot use one."""
    global _found_device
    if _found_device:
        return
    found = f"{argument} is an array on GPU {device}"
    if not lib.sortie_built_with_cuda():
        raise _errors.DeviceError(
            f"{found}, and {_library.library_path} was built without CUDA: copy the array to the"
            " host, or use a library with CUDA"
        )
    if lib.sortie_device_count() == 0:
        reason = lib.sortie_why_no_device().decode(errors="replace")
        raise _errors.DeviceError(f"{found}, and the library finds no GPU: {reason}")
    _found_device = True
