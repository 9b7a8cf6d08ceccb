// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Accesses to words that other threads of a block or grid may access at the same time, without an
/// order between these accesses. Where kernels run on the host they are atomic.
namespace sortie::segsort {

template <class Word>
__device__ __forceinline__ Word load_relaxed(const Word& word) {
#ifdef __CUDA_ARCH__
  return *static_cast<const volatile Word*>(&word);
#else
  return __atomic_load_n(&word, __ATOMIC_RELAXED);
#endif
}

template <class Word>
__device__ __forceinline__ void store_relaxed(Word& word, Word value) {
#ifdef __CUDA_ARCH__
  *static_cast<volatile Word*>(&word) = value;
#else
  __atomic_store_n(&word, value, __ATOMIC_RELAXED);
#endif
}

}  // namespace sortie::segsort
