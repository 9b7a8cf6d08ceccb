// SPDX-License-Identifier: Apache-2.0
#include "apps/sort/ranks/shared_runs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "apps/sort/spill_file.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::sorting {

SharedRuns::SharedRuns(cluster::Ranks& ranks, const std::string& folder) : folder_(folder) {
  constexpr mode_t own = 0600;
  ranks.together("create runs", [&] {
    files_.name.set(TemporaryName::unused_name(folder_));
    files_.own = ::open(files_.name.path(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, own);
    if (files_.own >= 0) return;
    const int code = errno;
    files_.name.clear();
    throw spill_error(folder_, code);
  });
}

SharedRuns::OpenFiles::~OpenFiles() {
  for (const int descriptor : descriptors)
    if (descriptor >= 0 && descriptor != own) ::close(descriptor);
  if (own >= 0) ::close(own);
  if (!name.empty()) ::unlink(name.path());
}

void SharedRuns::append(std::span<const char> bytes) {
  write_temporary(folder_, files_.own, size_, bytes);
  size_ += bytes.size();
}

void SharedRuns::open_all(cluster::Ranks& ranks, cluster::TrafficPlan& traffic) {
  // On a network file system, other machines see the bytes of a file for certain only if they open
  // it after these have been synchronised.
  ranks.together("flush runs", [&] {
    if (::fsync(files_.own) != 0) throw spill_error(folder_, errno);
  });
  begins_ = begins_of(ranks.gather(size_));
  std::vector<std::uint64_t> lengths;
  const std::string_view own = files_.name.path();
  traffic.add_gathering(own.size(), 1);
  const std::vector<char> names =
      ranks.gather_arrays(std::span<const char>(own.data(), own.size()), &lengths);
  ranks.together("open runs", [&] {
    std::size_t begin = 0;
    for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
      const std::string name(names.data() + begin, lengths[rank]);
      begin += lengths[rank];
      const bool is_own = rank == static_cast<std::size_t>(ranks.rank());
      files_.descriptors.push_back(is_own ? files_.own : ::open(name.c_str(), O_RDWR | O_CLOEXEC));
      if (files_.descriptors.back() >= 0) continue;
      throw Error(ErrorKind::output,
                  fmt::format("{}: the temporary file of rank {} cannot be opened: {}; expected a "
                              "folder that all ranks share",
                              name, rank, std::strerror(errno)));
    }
  });
}

SharedRuns::Place SharedRuns::place(std::uint64_t byte) const {
  // Ranks without runs have empty files: the last one that begins at or before the byte.
  const auto behind = std::upper_bound(begins_.begin(), begins_.end() - 1, byte);
  const auto rank = static_cast<std::size_t>(behind - begins_.begin()) - 1;
  return {files_.descriptors[rank], byte - begins_[rank]};
}

void SharedRuns::read(std::uint64_t begin, std::span<char> into) const {
  const auto [descriptor, offset] = place(begin);
  read_temporary(folder_, descriptor, offset, into);
}

void SharedRuns::discard(std::uint64_t begin, std::uint64_t bytes) const {
  const auto [descriptor, offset] = place(begin);
  discard_temporary(descriptor, offset, bytes);
}

}  // namespace sortie::sorting
