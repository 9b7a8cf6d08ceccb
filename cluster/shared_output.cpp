// SPDX-License-Identifier: Apache-2.0
#include "cluster/shared_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "cluster/array_exchange.hpp"
#include "sortie/error.hpp"

namespace sortie::cluster {
namespace {

Error write_error(const std::string& path, int code) {
  return {ErrorKind::output, fmt::format("{}: cannot be written: {}", path, std::strerror(code))};
}

}  // namespace

SharedOutput::SharedOutput(Ranks& ranks, const std::string& path) : ranks_(ranks), path_(path) {
  std::string temporary;
  ranks.on_rank(0, "create output", [&] {
    if (!WholeFile::takes_rewrites(path)) {
      throw Error(ErrorKind::output,
                  fmt::format("{}: found a stream, expected a file that several ranks can write",
                              path == "-" ? "<stdout>" : path));
    }
    file_.emplace(path, true);
    temporary = file_->temporary_path();
  });
  temporary = broadcast_text(ranks, std::move(temporary));
  ranks.together("open output", [&] {
    if (ranks.rank() == 0) return;
    others_.number = ::open(temporary.c_str(), O_WRONLY | O_CLOEXEC);
    if (others_.number >= 0) return name_of_others_.set(temporary);
    throw Error(
        ErrorKind::output,
        fmt::format("{}: the temporary file of rank 0, {}, cannot be opened: {}; expected a "
                    "folder that all ranks share",
                    path, temporary, std::strerror(errno)));
  });
}

SharedOutput::Descriptor::~Descriptor() {
  if (number >= 0) ::close(number);
}

void SharedOutput::write_at(std::uint64_t offset, std::span<const char> bytes) const {
  if (file_) return file_->write_at(offset, bytes);
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(others_.number, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw write_error(path_, written == 0 ? ENOSPC : errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

void SharedOutput::prepare(std::uint64_t bytes) {
  // Network file systems report a full disk only on close.
  ranks_.together("close output", [&] {
    if (file_) {
      if (bytes > 0) static_cast<void>(file_->reserve(bytes));
      file_->prepare();
    } else if (::close(std::exchange(others_.number, -1)) != 0) {
      throw write_error(path_, errno);
    }
    name_of_others_.clear();
  });
}

void SharedOutput::commit() {
  ranks_.on_rank(0, "rename output", [&] { file_->commit(); });
}

}  // namespace sortie::cluster
