// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cluster/traffic_plan.hpp"
#include "core/files/temporary_name.hpp"
#include "sortie/cluster.hpp"

namespace sortie::sorting {

/// Temporary files beside an output, one of each rank, which all ranks read: as if they were one
/// file, concatenated in rank order. Each has a name while it exists, by which the
/// other ranks open it.
class SharedRuns {
 public:
  /// Collective, phase "create runs". \param folder  that all ranks see
  /// \throws Error (output) the file of a rank cannot be created
  SharedRuns(cluster::Ranks& ranks, const std::string& folder);

  /// Appends to the file of this rank. \throws Error (output)
  void append(std::span<const char> bytes);
  /// Bytes appended so far.
  [[nodiscard]] std::uint64_t size() const { return size_; }

  /// Collective, phases "flush runs" and "open runs": opens the files of all ranks for reading. No
  /// rank appends from then on.
  /// \param traffic  to which the names are added that the ranks send
  /// \throws Error (output) a rank does not see the file of another one, or cannot write its own
  void open_all(cluster::Ranks& ranks, cluster::TrafficPlan& traffic);

  /// Where the file of a rank begins. \pre open_all() has been called, as in what follows
  [[nodiscard]] std::uint64_t begin(int rank) const {
    return begins_[static_cast<std::size_t>(rank)];
  }
  /// Fills `into` from byte `begin`. Several threads may call it. \pre all of it is in one file
  /// \throws Error (input)
  void read(std::uint64_t begin, std::span<char> into) const;
  /// Frees the space of bytes that no rank reads any more, where the file system can.
  void discard(std::uint64_t begin, std::uint64_t bytes) const;

 private:
  /// The file in which a byte is, and its offset there.
  struct Place {
    int descriptor;
    std::uint64_t offset;
  };
  [[nodiscard]] Place place(std::uint64_t byte) const;

  /// Files to close, and one to remove. A member, so that it does so if the constructor throws.
  struct OpenFiles {
    OpenFiles() = default;
    OpenFiles(const OpenFiles&) = delete;
    OpenFiles& operator=(const OpenFiles&) = delete;
    ~OpenFiles();

    TemporaryName name;            ///< of the file of this rank
    int own = -1;                  ///< its descriptor
    std::vector<int> descriptors;  ///< of all files, by rank
  };

  std::string folder_;
  OpenFiles files_;
  std::uint64_t size_ = 0;  ///< of the file of this rank
  std::vector<std::uint64_t> begins_;
};

}  // namespace sortie::sorting
