// SPDX-License-Identifier: Apache-2.0
#include "tests/support/read_faults.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace sortie::test {
namespace {

// Written while no reads are under way.
ReadFaults current;
std::atomic<std::uint64_t> calls = 0;
std::atomic<std::uint64_t> faults = 0;

ssize_t fail(int code) {
  ++faults;
  errno = code;
  return -1;
}

}  // namespace

InjectedReadFaults::InjectedReadFaults(const ReadFaults& wanted) {
  current = wanted;
  calls = 0;
  faults = 0;
}
InjectedReadFaults::~InjectedReadFaults() {
  current = ReadFaults();
}
std::uint64_t InjectedReadFaults::injected() const {
  return faults;
}

}  // namespace sortie::test

/// Takes the place of the C library's function in the program.
extern "C" ssize_t pread(int descriptor, void* into, std::size_t bytes, off_t offset) {
  using namespace sortie::test;
  const auto begin = static_cast<std::uint64_t>(offset);
  if (current.interrupted && ++calls % 2 == 1) return fail(EINTR);
  const std::uint64_t left = current.size > begin ? current.size - begin : 0;
  const auto limited =
      static_cast<std::size_t>(std::min<std::uint64_t>({bytes, current.most_bytes, left}));
  if (current.error_at >= begin && current.error_at - begin < limited) return fail(EIO);
  if (limited < bytes) ++faults;
  return ::syscall(SYS_pread64, descriptor, into, limited, offset);
}
