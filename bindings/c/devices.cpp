// SPDX-License-Identifier: Apache-2.0
#include "sortie/devices.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "bindings/c/context.hpp"
#include "sortie/version.hpp"

using sortie::c::guarded;

int sortie_interface_version(void) {
  return SORTIE_INTERFACE_VERSION;
}

const char* sortie_version(void) {
  static const std::string text(sortie::version());
  return text.c_str();
}

const char* sortie_commit(void) {
  static const std::string text(sortie::commit());
  return text.c_str();
}

int sortie_built_with_cuda(void) {
  return sortie::built_with_cuda() ? 1 : 0;
}

const char* sortie_cuda_toolkit_version(void) {
  static const std::string text(sortie::cuda_toolkit_version());
  return text.c_str();
}

int sortie_device_count(void) {
  try {
    return sortie::cuda_device_count();
  } catch (const std::exception&) {
    return 0;  // sortie_why_no_device() says why
  }
}

const char* sortie_why_no_device(void) {
  thread_local std::string reason;
  try {
    reason = sortie::why_no_cuda();
  } catch (const std::exception& error) {
    reason = error.what();
  }
  return reason.c_str();
}

sortie_status sortie_get_device(sortie_context* context, int ordinal, sortie_device_info* info) {
  return guarded(context, [&] {
    sortie::c::require_pointer("info", info, 1);
    const std::vector<sortie::DeviceInfo> devices = sortie::cuda_devices();
    const auto found = std::find_if(devices.begin(), devices.end(),
                                    [=](const auto& device) { return device.ordinal == ordinal; });
    if (found == devices.end()) {
      throw sortie::Error(
          sortie::ErrorKind::unavailable,
          fmt::format("device: found {}, expected one of {} devices{}", ordinal, devices.size(),
                      devices.empty() ? " (" + sortie::why_no_cuda() + ")" : ""));
    }
    *info = {found->ordinal,
             found->compute_major,
             found->compute_minor,
             found->multiprocessors,
             found->memory_total,
             found->memory_free,
             {}};
    found->name.copy(info->name, sizeof(info->name) - 1);
  });
}

sortie_status sortie_device_memory_in_use(sortie_context* context, uint64_t* bytes) {
  return guarded(context, [&] {
    sortie::c::require_pointer("bytes", bytes, 1);
    *bytes = sortie::device_memory_in_use(context->settings.device);
  });
}
