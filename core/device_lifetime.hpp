// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

/// Start and end of the work of a whole program on a device, which take the driver a quarter of a
/// second and a tenth: a program does other work beside them.
namespace sortie {

/// Whether this build has CUDA and the system has the files of a GPU. Takes microseconds and does
/// not start the driver, which may still find no device that it can use.
[[nodiscard]] bool may_have_cuda_device();

/// Starts the driver, and what every call on the device takes at first: its context, the memory
/// pool, and page-locked blocks for copies by up to `threads` threads. \pre the device exists
/// \throws Error (device)
void start_device(int device, int threads);

/// Frees everything that this process has on the device. Only for the end of a program: pointers,
/// streams and events of the device must not be used any more, by anyone in the process.
void end_device(int device) noexcept;

/// What tells a GPU from those of all machines: its UUID. Zeros in builds without CUDA.
using DeviceIdentity = std::array<std::uint64_t, 2>;
/// \pre the device exists \throws Error (device)
[[nodiscard]] DeviceIdentity device_identity(int device);

/// Bytes free on a device, unused pool memory included. Waits for its work.
/// \pre the device exists \throws Error (device)
[[nodiscard]] std::uint64_t free_device_memory(int device);

}  // namespace sortie
