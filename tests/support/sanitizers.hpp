// SPDX-License-Identifier: Apache-2.0
#pragma once

/// SORTIE_TEST_TSAN: compiled for ThreadSanitizer. SORTIE_TEST_SANITIZED: for it or for AddressSanitizer.
/// GCC defines macros of its own; Clang before 15 answers a question instead.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SORTIE_TEST_TSAN 1
#elif __has_feature(address_sanitizer)
#define SORTIE_TEST_SANITIZED 1
#endif
#endif

#if defined(__SANITIZE_THREAD__) && !defined(SORTIE_TEST_TSAN)
#define SORTIE_TEST_TSAN 1
#elif defined(__SANITIZE_ADDRESS__) && !defined(SORTIE_TEST_SANITIZED)
#define SORTIE_TEST_SANITIZED 1
#endif

#ifndef SORTIE_TEST_TSAN
#define SORTIE_TEST_TSAN 0
#endif
#if SORTIE_TEST_TSAN && !defined(SORTIE_TEST_SANITIZED)
#define SORTIE_TEST_SANITIZED 1
#endif
#ifndef SORTIE_TEST_SANITIZED
#define SORTIE_TEST_SANITIZED 0
#endif
