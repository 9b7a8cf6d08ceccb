// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "cluster/shared_output.hpp"
#include "core/files/whole_file.hpp"
#include "sortie/cluster.hpp"
#include "sortie/context.hpp"

namespace sortie::suffix_array::on_ranks {

/// A file of numbers of which each rank has a share, and PATH.json, which describes it. Both files
/// appear, or none. All member functions but remove() are collective.
class ArrayFile {
 public:
  /// \throws Error (output) as SharedOutput
  ArrayFile(cluster::Ranks& ranks, const HostContext& context, const std::string& path)
      : ranks_(ranks), context_(context), path_(path), output_(ranks, path) {}

  /// Writes the array as little-endian integers. Each rank writes the blocks of the checksum that
  /// begin in its share, and receives the ends of these from the ranks behind it.
  /// \param begin        number of the first item of this rank; shares follow each other by rank
  /// \param width_bytes  of a number: 1, 4, 5 or 8
  /// \return the checksum of the file (core/files/checksum.hpp), on all ranks
  /// \throws Error (output)
  /// Extra memory: one block on each thread, and on each rank.
  template <class Number>
  std::string write(std::uint64_t begin, std::span<const Number> share, int width_bytes);

  /// Writes PATH.json and closes both files: only renaming is left then. Phases "write description",
  /// "close output". \param describe  gives the content of PATH.json; called on rank 0
  void prepare(const std::function<std::string()>& describe);

  /// Both files get their names. Phases "rename output", "name description". \pre prepare()
  void commit();

  /// Removes those of both files that have their names. Not collective.
  void remove() const;

 private:
  cluster::Ranks& ranks_;
  const HostContext& context_;
  std::string path_;
  cluster::SharedOutput output_;
  std::uint64_t bytes_ = 0;
  std::optional<WholeFile> description_;  ///< on rank 0
  bool has_name_ = false;                 ///< both are on rank 0 only
  bool has_description_ = false;
};

/// Arrays of one job get their names: all or none. If one cannot be renamed, those that already have
/// their names are removed; a file of an earlier run that they replaced is lost then. Collective.
/// \pre all are prepared \throws Error (output)
void commit_all(std::span<ArrayFile* const> files);

}  // namespace sortie::suffix_array::on_ranks
