// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "apps/cli/sort_command.hpp"
#include "apps/sort/ranks/file_sort.hpp"
#include "apps/sort/spill_file.hpp"
#include "cluster/array_exchange.hpp"
#include "core/files/whole_file.hpp"
#include "sortie/error.hpp"

namespace sortie::cli {
namespace {

/// A stream that rank 0 has copied to a temporary file beside the output, where all ranks read it.
class StreamCopy {
 public:
  StreamCopy(Job& job, const SortCommand& command, const sorting::RecordFormat& format,
             cluster::Ranks& ranks) {
    ranks.on_rank(0, "read stream", [&] {
      const auto source = open_source(job.reading_context(), command, format);
      const std::string folder = sorting::spill_folder(command.request.output);
      file_.emplace(folder + "/sortie-records", true);
      constexpr std::uint64_t block_records = std::uint64_t{1} << 16;
      std::vector<char> block(block_records * format.record_bytes());
      for (std::uint64_t got = block_records; got == block_records;) {
        got = source->read(block);
        file_->write(std::span<const char>(block).first(got * format.record_bytes()));
      }
      path_ = file_->temporary_path();
      // Closed before others open it: network file systems show the bytes from then on.
      file_->prepare();
    });
    path_ = cluster::broadcast_text(ranks, std::move(path_));
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::optional<WholeFile> file_;  ///< on rank 0; never committed, so it is removed
  std::string path_;
};

/// \throws Error (usage) an option that does not apply
void check_options(const SortCommand& command, const cluster::Ranks& ranks) {
  const auto refuse = [&](const char* option, const char* expected) {
    throw Error(ErrorKind::usage, fmt::format("sort: found {} on {} ranks, expected {}", option,
                                              ranks.size(), expected));
  };
  if (command.dry_run) refuse("--dry-run", "it without mpirun");
  if (command.request.options.devices != 0) refuse("--gpus", "one device for each rank");
  if (command.common.repeat != 1) refuse("--repeat", "a single run");
  if (!command.request.output.empty() && is_stream(command.request.output))
    refuse("a stream as output", "-o with a file that all ranks can write");
}

}  // namespace

void run_sort_on_ranks(Job& job, const SortCommand& command, cluster::Ranks& ranks) {
  sorting::FileSortRequest work;
  ranks.together("check options", [&] {
    work = request_of(command);
    check_options(command, ranks);
  });
  bool is_copied = false;
  ranks.on_rank(0, "announce output", [&] {
    job.announce_output(command.request.output);
    is_copied = reads_stream(command);
  });
  is_copied = ranks.greatest(is_copied ? 1 : 0) == 1;
  SortCommand opened = command;
  std::optional<StreamCopy> copy;
  if (is_copied) {
    const PhaseTimer timer(job.reading_context(), "read stream");
    copy.emplace(job, command, work.format, ranks);
    opened.input = copy->path();
  }
  std::unique_ptr<sorting::RecordSource> source;
  ranks.together("open input", [&] {
    source = open_source(job.reading_context(), opened, work.format);
    choose_backend(job, command, work, source->records());
    static_cast<void>(job.context());  // starts the backend
  });
  const sorting::RankSortResult result =
      sorting::sort_records_on_ranks(ranks, job.context(), *source, work);
  report(job, command, result.sort);
  std::string text = summary(job.context().backend, command, work.format, result.sort);
  text += fmt::format("\n{} ranks ({})", ranks.size(), ranks.transport());
  for (const auto& [key, value] : job.report().figures())
    if (key == "exchange_path") text += ", exchange " + std::get<std::string>(value);
  if (is_copied) text += "\nthe input cannot be divided: rank 0 copied it to a temporary file";
  job.summarize(work.output, text);
}

}  // namespace sortie::cli
