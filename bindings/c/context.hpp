// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "sortie/context.hpp"
#include "sortie/error.hpp"
#include "sortie/sortie.h"

struct CUstream_st;  // cudaStream_t is a pointer to it

struct sortie_context {
  sortie::Context settings;  ///< without progress
  CUstream_st* stream = nullptr;
  sortie_progress progress = nullptr;
  void* user = nullptr;
  std::string message;  ///< of the last error
};

/// What every call of the C interface does: settings from its context, and a status from exceptions.
namespace sortie::c {

/// Thrown by progress, where the caller's function asks for it.
class Cancelled : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override {
    return "cancelled by the progress function";
  }
};

/// The settings of a call, with progress. \pre the context outlives them
[[nodiscard]] Context settings_of(const sortie_context& context);

/// The status of the exception that is being handled; writes its message to the context.
[[nodiscard]] sortie_status status_of_exception(sortie_context& context) noexcept;

/// Calls work(); its exceptions become the status and the message of the context.
template <class Work>
[[nodiscard]] sortie_status guarded(sortie_context* context, const Work& work) noexcept {
  if (context == nullptr) return SORTIE_USAGE;
  try {
    work();
    return SORTIE_OK;
  } catch (...) {
    return status_of_exception(*context);
  }
}

/// \throws Error (usage) "ARGUMENT: found FOUND, expected EXPECTED"
[[noreturn]] void refuse(std::string_view argument, std::string_view found,
                         std::string_view expected);

/// \throws Error (usage) a number that is no sortie_memory
void require_memory(std::string_view argument, sortie_memory memory);

/// Starts the threads of the host if the call runs there, so that its loops use them.
/// \throws Error (usage) another number of threads than before; (unavailable)
void start_threads(const Context& context);

/// \throws Error (usage) a null pointer for a count that is not 0
void require_pointer(std::string_view argument, const void* pointer, std::uint64_t count);

/// The same for an array. \throws Error (usage) also for more bytes than a machine addresses, so that
/// no number of bytes overflows
void require_array(std::string_view argument, const void* pointer, std::uint64_t count,
                   std::size_t element_bytes);

}  // namespace sortie::c
