# SPDX-License-Identifier: Apache-2.0
"""What the package and the library are, and which GPUs they see."""

from __future__ import annotations

from ctypes import byref
from dataclasses import asdict, dataclass
from typing import Any

from . import _library
from ._context import HOST, call
from ._library import lib
from ._options import Settings


@dataclass(frozen=True)
class Device:
    """A GPU."""

    ordinal: int
    name: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    memory_total: int
    """bytes"""
    memory_free: int
    """bytes, at the time of the call"""


@dataclass(frozen=True)
class Info:
    """What :func:`info` returns; ``print()`` shows it line by line."""

    version: str
    commit: str
    library: str
    interface_version: int
    cuda: bool
    """Whether the library was built with CUDA."""
    cuda_toolkit: str
    devices: tuple[Device, ...]
    why_no_device: str
    """Empty if there are devices."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"version      {self.version}, commit {self.commit}",
            f"library      {self.library}, C interface {self.interface_version}",
            f"CUDA         {f'toolkit {self.cuda_toolkit}' if self.cuda else 'not in this build'}",
        ]
        for device in self.devices:
            major, minor = device.compute_capability
            lines.append(
                f"GPU {device.ordinal}        {device.name}, compute capability {major}.{minor},"
                f" {device.multiprocessors} multiprocessors, {device.memory_free / 2**30:.1f} of"
                f" {device.memory_total / 2**30:.1f} GiB free"
            )
        if not self.devices:
            lines.append(f"GPU          none: {self.why_no_device}")
        return "\n".join(lines)


def _device(ordinal: int) -> Device:
    found = _library.DeviceInfo()
    call("sortie_get_device", Settings({}), HOST, ordinal, byref(found))
    return Device(
        found.ordinal,
        found.name.decode(errors="replace"),
        (found.compute_major, found.compute_minor),
        found.multiprocessors,
        found.memory_total,
        found.memory_free,
    )


def info() -> Info:
    """Version of the library, where it was found, and the GPUs that it can use.

    Examples
    --------
    >>> import sortie
    >>> sortie.info().interface_version
    1
    """
    count = lib.sortie_device_count()
    return Info(
        version=lib.sortie_version().decode(),
        commit=lib.sortie_commit().decode(),
        library=_library.library_path,
        interface_version=lib.sortie_interface_version(),
        cuda=bool(lib.sortie_built_with_cuda()),
        cuda_toolkit=lib.sortie_cuda_toolkit_version().decode(),
        devices=tuple(_device(i) for i in range(count)),
        why_no_device="" if count else lib.sortie_why_no_device().decode(errors="replace"),
    )
