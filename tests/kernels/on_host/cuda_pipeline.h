// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>

/// Copies to shared memory are over when they begin.
inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes,
                                    std::size_t zero_bytes = 0) {
  std::memset(to, 0, bytes);
  std::memcpy(to, from, bytes - zero_bytes);
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(std::size_t) {}
