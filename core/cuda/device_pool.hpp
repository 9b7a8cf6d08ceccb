#pragma once

#include <cstdint>

namespace sortie {

/// Bytes that the stream-ordered allocator of the current device has handed out and not taken back.
/// What streams have yet to free counts as handed out; synchronise them first. \throws Error
/// (device)
[[nodiscard]] std::uint64_t device_memory_in_use();

/// Gives all memory that the stream-ordered allocator of the current device holds unused back to
/// the system, so that the next allocations have to ask for it again. \throws Error (device)
void release_unused_device_memory();

}  // namespace sortie
