// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "apps/kmer_count/table_lines.hpp"
#include "core/phase_timer.hpp"
#include "sortie/error.hpp"
#include "sortie/fasta.hpp"
#include "sortie/kmer_count.hpp"

namespace sortie::kmers {

void check_kmers(const HostContext& context, std::span<const std::string> paths,
                 const CountOptions& options, const KmerFigures& figures) {
  const PhaseTimer timer(context, "verify");
  HostContext reading = context;
  reading.report = nullptr;
  reading.progress = {};
  std::uint64_t letters = 0;
  const int top = 2 * (options.k - 1);
  const DoubleWord mask = ~DoubleWord{0} >> (126 - top);
  std::uint64_t kmers = 0;
  std::uint64_t checksum = 0;
  for (const std::string& path : paths) {
    const sequences::Text text = sequences::read_fasta(reading, path);
    DoubleWord forward = 0;
    DoubleWord reverse = 0;
    int length = 0;  // letters since the last one that is no base, up to k
    for (const std::uint8_t symbol : text.symbols) {
      const std::size_t code = std::string_view("ACGT").find(static_cast<char>(symbol));
      if (code == std::string_view::npos) {
        length = 0;
        continue;
      }
      forward = (forward << 2 | code) & mask;
      reverse = reverse >> 2 | DoubleWord{3 - code} << top;
      if (length < options.k) ++length;
      if (length < options.k) continue;
      ++kmers;
      checksum += checksum_of(options.canonical && reverse < forward ? reverse : forward);
    }
    letters += text.symbols.size();
    report_progress(context, "verify", letters, 0);
  }
  report_progress(context, "verify", letters, letters);
  if (kmers != figures.kmers || checksum != figures.checksum) {
    throw Error(
        ErrorKind::check,
        fmt::format("found counts of {} k-mers with hashes {:016x}, expected {} with {:016x}",
                    figures.kmers, figures.checksum, kmers, checksum));
  }
}

}  // namespace sortie::kmers
