// SPDX-License-Identifier: Apache-2.0
#pragma once

/// SORTIE_TEST_TSAN is 1 in a build for ThreadSanitizer, SORTIE_TEST_SANITIZED in a build for it or
/// for AddressSanitizer; otherwise they are 0. GCC defines __SANITIZE_*, Clang has __has_feature.

#if defined(__SANITIZE_THREAD__)
#define SORTIE_TEST_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SORTIE_TEST_TSAN 1
#endif
#endif
#ifndef SORTIE_TEST_TSAN
#define SORTIE_TEST_TSAN 0
#endif

#if SORTIE_TEST_TSAN || defined(__SANITIZE_ADDRESS__)
#define SORTIE_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SORTIE_TEST_SANITIZED 1
#endif
#endif
#ifndef SORTIE_TEST_SANITIZED
#define SORTIE_TEST_SANITIZED 0
#endif
