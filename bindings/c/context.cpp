// SPDX-License-Identifier: Apache-2.0
#include "bindings/c/context.hpp"

#include <algorithm>
#include <cstdint>
#include <new>
#include <stdexcept>

#include "core/host_runtime.hpp"

namespace sortie::c {
namespace {

sortie_status status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::input:
      return SORTIE_INPUT;
    case ErrorKind::usage:
      return SORTIE_USAGE;
    case ErrorKind::output:
      return SORTIE_OUTPUT;
    case ErrorKind::out_of_memory:
      return SORTIE_OUT_OF_MEMORY;
    case ErrorKind::unavailable:
      return SORTIE_UNAVAILABLE;
    case ErrorKind::device:
      return SORTIE_DEVICE;
    case ErrorKind::check:
      return SORTIE_CHECK;
  }
  return SORTIE_INTERNAL;
}

}  // namespace

Context settings_of(const sortie_context& context) {
  Context settings = context.settings;
  if (context.progress != nullptr) {
    settings.progress = [call = context.progress, user = context.user](
                            std::string_view phase, std::uint64_t done, std::uint64_t total) {
      if (call(user, std::string(phase).c_str(), done, total) != 0) throw Cancelled();
    };
  }
  return settings;
}

sortie_status status_of_exception(sortie_context& context) noexcept {
  const auto tell = [&](sortie_status status, const char* message) {
    try {
      context.message = message;
    } catch (const std::bad_alloc&) {
      context.message.clear();
    }
    return status;
  };
  try {
    throw;
  } catch (const Cancelled& cancelled) {
    return tell(SORTIE_CANCELLED, cancelled.what());
  } catch (const Error& error) {
    return tell(status_of(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    return tell(SORTIE_OUT_OF_MEMORY, "found too little host memory for the call");
  } catch (const std::length_error&) {
    return tell(SORTIE_OUT_OF_MEMORY, "found a result beyond the address space");
  } catch (const std::exception& error) {
    return tell(SORTIE_INTERNAL, error.what());
  } catch (...) {
    return tell(SORTIE_INTERNAL, "found an exception of an unknown type");
  }
}

void refuse(std::string_view argument, std::string_view found, std::string_view expected) {
  throw Error(ErrorKind::usage,
              fmt::format("{}: found {}, expected {}", argument, found, expected));
}

void require_memory(std::string_view argument, sortie_memory memory) {
  if (memory != SORTIE_HOST_MEMORY && memory != SORTIE_DEVICE_MEMORY)
    refuse(argument, fmt::format("{}", static_cast<int>(memory)), "0 (host) or 1 (device)");
}

void start_threads(const Context& context) {
  if (resolve_backend(context) == Backend::host) start_host_runtime(context.threads);
}

void require_pointer(std::string_view argument, const void* pointer, std::uint64_t count) {
  if (pointer == nullptr && count != 0)
    refuse(argument, "a null pointer", fmt::format("{} elements", count));
}

void require_array(std::string_view argument, const void* pointer, std::uint64_t count,
                   std::size_t element_bytes) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 56;
  if (count > most_bytes / std::max<std::size_t>(1, element_bytes))
    refuse(argument, fmt::format("{} elements of {} bytes", count, element_bytes),
           "fewer than 2^56 bytes");
  require_pointer(argument, pointer, count);
}

}  // namespace sortie::c

using sortie::c::guarded;

sortie_context* sortie_context_create(void) {
  return new (std::nothrow) sortie_context;
}

void sortie_context_destroy(sortie_context* context) {
  delete context;
}

sortie_status sortie_set_backend(sortie_context* context, sortie_backend backend) {
  return guarded(context, [&] {
    switch (backend) {
      case SORTIE_BACKEND_AUTOMATIC:
        context->settings.backend = sortie::Backend::automatic;
        return;
      case SORTIE_BACKEND_CUDA:
        context->settings.backend = sortie::Backend::cuda;
        return;
      case SORTIE_BACKEND_HOST:
        context->settings.backend = sortie::Backend::host;
        return;
    }
    sortie::c::refuse("backend", fmt::format("{}", static_cast<int>(backend)), "0, 1 or 2");
  });
}

sortie_status sortie_set_device(sortie_context* context, int device) {
  return guarded(context, [&] {
    if (device < 0) sortie::c::refuse("device", fmt::format("{}", device), "0 or more");
    context->settings.device = device;
  });
}

sortie_status sortie_set_stream(sortie_context* context, void* stream) {
  return guarded(context, [&] { context->stream = static_cast<CUstream_st*>(stream); });
}

sortie_status sortie_set_threads(sortie_context* context, int threads) {
  return guarded(context, [&] {
    if (threads < 0) sortie::c::refuse("threads", fmt::format("{}", threads), "0 or more");
    context->settings.threads = threads;
  });
}

sortie_status sortie_set_memory_budget(sortie_context* context, uint64_t bytes) {
  return guarded(context, [&] { context->settings.memory_budget = bytes; });
}

sortie_status sortie_set_progress(sortie_context* context, sortie_progress progress, void* user) {
  return guarded(context, [&] {
    context->progress = progress;
    context->user = user;
  });
}

const char* sortie_last_error(const sortie_context* context) {
  return context == nullptr ? "context: found a null pointer, expected a context"
                            : context->message.c_str();
}
