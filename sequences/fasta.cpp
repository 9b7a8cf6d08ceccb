// SPDX-License-Identifier: Apache-2.0
#include "sortie/fasta.hpp"

#include <algorithm>
#include <vector>

#include "core/byte_source.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "core/whole_file.hpp"
#include "sequences/record_parser.hpp"
#include "sortie/run_report.hpp"

namespace sortie::sequences {
namespace {

// A block is parsed right after decompression, while it is in the L2 cache.
constexpr std::size_t block_bytes = std::size_t{256} << 10;

// gzip takes 2.1 bits per base of DNA and 8 to 10 bits per byte of noise. Reserved memory that is
// not touched costs nothing; reallocating the text costs a copy.
constexpr std::uint64_t usual_compression = 4;

}  // namespace

Text read_fasta(const HostContext& context, const std::string& path, const ReadOptions& options) {
  PhaseTimer timer(context, "read");
  ByteSource source(path);
  const std::uint64_t hint = source.size_hint() * (source.compressed() ? usual_compression : 1);
  RecordParser parser(source.name(), options, hint, HostMemoryBudget(context).left());
  std::vector<char> block(block_bytes);
  std::uint64_t bytes = 0;
  std::size_t kept = 0;  // 1 if the block ended with a carriage return, kept for the next block
  for (bool more = true; more;) {
    const std::size_t wanted = block.size() - kept;
    const std::size_t got = source.read(std::span(block).subspan(kept));
    more = got == wanted;
    bytes += got;
    const std::size_t filled = kept + got;
    kept = filled != 0 && block[filled - 1] == '\r' ? 1 : 0;
    parser.feed(std::span(block).first(filled - kept));
    if (kept != 0) block.front() = '\r';
    report_progress(context, "read", bytes, source.compressed() ? 0 : hint);
  }
  timer.set_bytes(bytes);
  return parser.finish();
}

void write_fasta(const std::string& path, const Text& text, std::size_t width) {
  WholeFile file(path);
  std::string buffer;
  const auto flush = [&](std::size_t limit) {
    if (buffer.size() <= limit) return;
    file.write(std::string_view(buffer));
    buffer.clear();
  };
  for (const Record& record : text.records) {
    buffer.append(1, '>').append(record.name).append(1, '\n');
    const auto* symbols = reinterpret_cast<const char*>(text.symbols.data()) + record.offset;
    const std::size_t line = width == 0 ? std::max<std::size_t>(record.length, 1) : width;
    for (std::size_t begin = 0; begin < record.length; begin += line) {
      buffer.append(symbols + begin, std::min<std::size_t>(line, record.length - begin));
      buffer.append(1, '\n');
      flush(block_bytes);
    }
  }
  flush(0);
  file.commit();
}

}  // namespace sortie::sequences
