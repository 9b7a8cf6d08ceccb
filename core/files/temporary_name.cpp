// SPDX-License-Identifier: Apache-2.0
#include "core/files/temporary_name.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <random>

namespace sortie {
namespace {

// A signal handler may use neither locks nor memory allocation.
using Slot = std::atomic<char*>;
static_assert(Slot::is_always_lock_free);
std::array<Slot, 64> slots = {};

extern "C" void remove_files_and_end(int signal) {
  // Taken out of the slots, so that clear() does not free what is read here.
  for (Slot& slot : slots)
    if (char* const path = slot.exchange(nullptr)) ::unlink(path);
  // SA_RESETHAND: this signal, pending until the return, ends the program.
  static_cast<void>(std::raise(signal));
}

}  // namespace

std::string TemporaryName::unused_name(const std::string& folder) {
  std::random_device random;
  const std::uint64_t bits = (std::uint64_t{random()} << 32) | random();
  return (std::filesystem::path(folder) / fmt::format(".sortie-{:016x}.tmp", bits)).string();
}

bool TemporaryName::is_one(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name.size() == unused_name("").size() && name.starts_with(".sortie-") &&
         name.ends_with(".tmp");
}

void TemporaryName::set(const std::string& path) {
  clear();
  path_ = std::make_unique<char[]>(path.size() + 1);
  std::memcpy(path_.get(), path.c_str(), path.size() + 1);
  for (Slot& slot : slots) {
    char* none = nullptr;
    registered_ = slot.compare_exchange_strong(none, path_.get());
    if (registered_) return;
  }
}

void TemporaryName::clear() {
  bool taken = registered_;  // by a signal handler, which may be reading it
  for (Slot& slot : slots) {
    char* mine = path_.get();
    if (registered_ && slot.compare_exchange_strong(mine, nullptr)) taken = false;
  }
  registered_ = false;
  if (taken) static_cast<void>(path_.release());
  path_.reset();
}

void remove_temporary_files_on_signals() {
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ}) {
    struct sigaction action = {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = remove_files_and_end;
    action.sa_flags = SA_RESETHAND;
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace sortie
