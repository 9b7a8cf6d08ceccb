// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "core/progress.hpp"
#include "core/whole_file.hpp"
#include "matrices/entry_writer.hpp"
#include "matrices/instantiate.hpp"
#include "sortie/csr.hpp"
#include "sortie/matrix_market.hpp"
#include "sortie/run_report.hpp"

namespace sortie::matrices {

namespace {

template <class Matrix>
void write(const HostContext& context, const std::string& path, const Matrix& matrix) {
  start_host_runtime(context.threads);
  PhaseTimer timer(context, "write matrix");
  WholeFile file(path);
  const std::string head =
      fmt::format("%%MatrixMarket matrix coordinate {} general\n{} {} {}\n",
                  detail::EntryForm<Matrix>::field, matrix.rows, matrix.cols, matrix.nnz());
  file.write(std::string_view(head));
  detail::write_entries(file, matrix, 0, [&](std::int64_t done, std::int64_t blocks) {
    report_progress(context, "write matrix", static_cast<std::uint64_t>(done),
                    static_cast<std::uint64_t>(blocks));
  });
  timer.set_bytes(file.bytes_written());
  file.commit();
}

}  // namespace

template <Scalar Value, Index Idx>
void write_matrix_market(const HostContext& context, const std::string& path,
                         const Csr<Value, Idx>& matrix) {
  write(context, path, matrix);
}

template <Index Idx>
void write_matrix_market(const HostContext& context, const std::string& path,
                         const Pattern<Idx>& pattern) {
  write(context, path, pattern);
}

template void write_matrix_market(const HostContext&, const std::string&,
                                  const Pattern<std::int32_t>&);
template void write_matrix_market(const HostContext&, const std::string&,
                                  const Pattern<std::int64_t>&);

#define SORTIE_INSTANTIATE(Value, Idx) \
  template void write_matrix_market(const HostContext&, const std::string&, const Csr<Value, Idx>&);
SORTIE_MATRICES_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::matrices
