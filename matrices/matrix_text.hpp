// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "core/files/byte_source.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "matrices/matrix_market_text.hpp"
#include "matrices/npz_file.hpp"
#include "sortie/csr.hpp"
#include "sortie/matrix_market.hpp"

namespace sortie::matrices {

/// A file read into memory, so that the header can be examined before the entries are parsed, also
/// for standard input. Of an .npz file that can be read in any order, only the header is read.
struct MatrixText {
  MatrixText(const HostContext& context, const std::string& path)
      : name(path == "-" ? "<stdin>" : path) {
    PhaseTimer timer(context, "read");
    if (is_npz_file(path)) {
      open_npz(NpzFile(path, threads_of(context)));
      return;
    }
    bytes = read_all(path, 0, threads_of(context));
    timer.set_bytes(bytes.size);
    open();
  }
  /// The same of a file that has been read.
  MatrixText(std::string name_of_file, ByteBuffer content)
      : name(std::move(name_of_file)), bytes(std::move(content)) {
    open();
  }

  /// Parses the text, or loads the arrays, and frees them.
  /// \param context    threads and budget
  /// \param reporting  its report gets the phases "read" and "parse"
  template <Scalar Value, Index Idx>
  [[nodiscard]] Csr<Value, Idx> parse(const HostContext& context, const HostContext& reporting) && {
    if (npz) return load<Value, Idx>(context, reporting);
    const PhaseTimer timer(reporting, "parse", bytes.size);
    return parse_matrix_market<Value, Idx>(context, name, bytes.span());
  }

  std::string name;
  ByteBuffer bytes;
  std::optional<NpzFile> npz;  ///< instead of `bytes`
  MatrixMarketHeader header;   ///< of an .npz file: what it would be

 private:
  void open() {
    if (starts_as_npz(bytes.span())) {
      open_npz(NpzFile(name, std::move(bytes)));
    } else {
      header = parse_matrix_market_header(name, bytes.span());
    }
  }

  void open_npz(NpzFile file) {
    const NpzHeader& found = file.header();
    header.field = found.complex ? Field::complex : Field::real;
    header.rows = found.rows;
    header.cols = found.cols;
    header.entries = found.entries;
    npz.emplace(std::move(file));
  }

  template <Scalar Value, Index Idx>
  [[nodiscard]] Csr<Value, Idx> load(const HostContext& context, const HostContext& reporting) {
    HostMemoryBudget budget(context);
    start_host_runtime(context.threads);
    PhaseTimer reading(reporting, "read", npz->bytes());
    auto arrays = npz->load<Value, Idx>(context, budget);
    reading.stop();
    const PhaseTimer timer(reporting, "parse", npz->bytes());
    return assemble_npz(std::move(arrays), budget);
  }
};

}  // namespace sortie::matrices
