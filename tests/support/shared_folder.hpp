// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "cluster/array_exchange.hpp"
#include "sortie/cluster.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {

/// A temporary folder that all ranks use. Construction and end are collective.
class SharedFolder {
 public:
  explicit SharedFolder(cluster::Ranks& ranks) : ranks_(ranks) {
    if (ranks.rank() == 0) {
      folder_.emplace();
      path_ = folder_->path("");
    }
    path_ = cluster::broadcast_text(ranks, std::move(path_));
  }
  ~SharedFolder() { static_cast<void>(ranks_.sum(0)); }  // all are done before rank 0 removes it
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return path_ + name; }
  /// Entries in the folder. Collective, so that no rank creates or removes one meanwhile.
  [[nodiscard]] std::uint64_t entries() const {
    static_cast<void>(ranks_.sum(0));
    return ranks_.greatest(folder_ ? folder_->entries() : 0);
  }

 private:
  cluster::Ranks& ranks_;
  std::optional<TemporaryFolder> folder_;  ///< on rank 0
  std::string path_;
};

}  // namespace sortie::test
