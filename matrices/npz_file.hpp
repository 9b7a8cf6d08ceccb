// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/files/byte_buffer.hpp"
#include "core/host_memory.hpp"
#include "matrices/zip_archive.hpp"
#include "sortie/context.hpp"
#include "sortie/csr.hpp"
#include "sortie/npz.hpp"

namespace sortie::matrices {

/// The arrays of an .npz file, converted to the types of the result, before their entries are
/// brought into order.
template <Scalar Value, Index Idx>
struct NpzArrays {
  std::string name;  ///< of the file, for messages
  NpzHeader header;
  std::vector<std::int64_t> offsets;  ///< of the rows (csr) or the columns (csc)
  std::vector<Idx> row_idx;           ///< empty for csr
  std::vector<Idx> col_idx;           ///< empty for csc
  std::vector<Value> values;
};

/// An open .npz file, so that its header can be examined before the arrays are read, also of
/// standard input.
class NpzFile {
 public:
  /// Opens a file, and a pipe or a compressed file by reading it into memory. Reads what describes
  /// the arrays.
  /// \param threads        that read the content of a compressed file
  /// \param memory_budget  bytes that this content may take; 0: no limit
  /// \throws Error (input), (out_of_memory)
  NpzFile(const std::string& path, int threads, std::uint64_t memory_budget = 0);
  /// The same of a file in memory.
  NpzFile(std::string name, ByteBuffer bytes);
  ~NpzFile();
  NpzFile(NpzFile&&) noexcept;
  NpzFile& operator=(NpzFile&&) noexcept;

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] const NpzHeader& header() const;
  /// Bytes of the arrays, decompressed.
  [[nodiscard]] std::uint64_t bytes() const;
  /// Bytes of the file that are in memory.
  [[nodiscard]] std::uint64_t held_bytes() const;

  /// Reads the arrays and checks them, but for their order. Progress: "read".
  /// \param budget  bytes that the arrays, and deflated ones meanwhile, may take; holds the arrays
  ///                afterwards
  /// \throws Error as read_npz()
  template <Scalar Value, Index Idx>
  [[nodiscard]] NpzArrays<Value, Idx> load(const HostContext& context,
                                           HostMemoryBudget& budget) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Whether the bytes are the begin of an .npz file.
[[nodiscard]] bool starts_as_npz(std::span<const char> bytes);
/// The same of a file that can be read in any order: false for pipes and standard input, of which
/// nothing is read.
/// \throws Error (input) it cannot be opened
[[nodiscard]] bool is_npz_file(const std::string& path);

/// The matrix of the arrays: rows in order, duplicates summed.
/// \throws Error (out_of_memory)
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> assemble_npz(NpzArrays<Value, Idx> arrays,
                                           const HostMemoryBudget& budget);

}  // namespace sortie::matrices
