// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/segsort/paper_figures.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <tuple>

#include "sortie/error.hpp"

namespace sortie::bench {
namespace {

using Json = nlohmann::ordered_json;

// The limits of papers/ics17/policy.cuh: the capacity of its last bin, and the block of reg-sort.
constexpr std::uint64_t longest_of_bins = 2048;
constexpr int block_threads_of_bins = 128;

Json to_json(std::span<const PaperTime> times, std::uint64_t items) {
  Json list = Json::array();
  for (const PaperTime& time : times) {
    const double rate = time.rate(items);
    list.push_back({{"length", time.length},
                    {"threads", time.binding.threads},
                    {"items", time.binding.items},
                    {"write", time.binding.striped ? "striped" : "original"},
                    {"chunks", time.binding.uneven ? "uneven" : "full"},
                    {"block_threads", time.block_threads},
                    {"median_seconds", rate > 0 ? Json(time.seconds) : Json(nullptr)},
                    {"rate", rate > 0 ? Json(rate) : Json(nullptr)},
                    {"agrees", time.agrees},
                    {"fault", time.fault},
                    {"failure", time.failure}});
  }
  return list;
}

std::string cell(const PaperTime& time, std::uint64_t items) {
  if (!time.failure.empty()) return "failed";
  return time.agrees ? fmt::format("{:.2f}", time.rate(items)) : "WRONG";
}

// One line per binding; one column per write method and, if it varies, block size.
std::string figure_table(std::span<const PaperTime> times, std::uint64_t items,
                         bool with_block_sizes) {
  using Column = std::pair<bool, int>;
  using Line = std::tuple<std::uint64_t, int, int>;
  std::set<Column> columns;
  std::map<Line, std::map<Column, std::string>> lines;
  for (const PaperTime& time : times) {
    const Column column(time.binding.striped, with_block_sizes ? time.block_threads : 0);
    columns.insert(column);
    lines[{time.length, time.binding.threads, time.binding.items}][column] = cell(time, items);
  }
  std::string text = fmt::format("{:>6} {:>8}", "length", "binding");
  for (const auto& [striped, block_threads] : columns) {
    const char* const method = striped ? "strd" : "orig";
    text += fmt::format(" {:>8}", with_block_sizes ? fmt::format("{} {}", method, block_threads)
                                                   : std::string(method));
  }
  text += "\n";
  for (const auto& [line, cells] : lines) {
    const auto& [length, threads, bound] = line;
    text += fmt::format("{:>6} {:>8}", length, fmt::format("{}:{}", threads, bound));
    for (const Column& column : columns) {
      const auto found = cells.find(column);
      text += fmt::format(" {:>8}", found == cells.end() ? "" : found->second);
    }
    text += "\n";
  }
  return text;
}

// A line for each length, a column for each division.
std::string chunks_table(std::span<const PaperTime> times, std::uint64_t items) {
  std::string text =
      fmt::format("{:>6} {:>8} {:>8} {:>8}\n", "length", "binding", "full", "uneven");
  std::map<std::tuple<int, int, std::uint64_t>, std::array<std::string, 2>> lines;
  for (const PaperTime& time : times)
    lines[{time.binding.threads, time.binding.items, time.length}][time.binding.uneven ? 1 : 0] =
        cell(time, items);
  for (const auto& [line, cells] : lines) {
    const auto& [threads, bound, length] = line;
    text += fmt::format("{:>6} {:>8} {:>8} {:>8}\n", length, fmt::format("{}:{}", threads, bound),
                        cells[0], cells[1]);
  }
  return text;
}

std::string bins_header(const PaperFigures& figures) {
  std::string text = "inline constexpr std::array bins{\n";
  for (const PaperTime& time : figures.bins()) {
    const PaperBinding& binding = time.binding;
    text += fmt::format(
        "    Bin{{Bin::Kind::{}, {}, {}, {}, {}}},  // {:.1f} Gpairs/s\n",
        binding.kernel == PaperBinding::Kernel::reg_sort ? "registers" : "shared_memory",
        time.length, binding.threads, binding.items, binding.striped, time.rate(figures.items));
  }
  return text + "};\n";
}

}  // namespace

std::vector<PaperTime> PaperFigures::bins() const {
  std::map<std::uint64_t, PaperTime> best;
  for (const std::vector<PaperTime>* times : {&reg_sort, &smem_merge}) {
    for (const PaperTime& time : *times) {
      const bool is_reg_sort = time.binding.kernel == PaperBinding::Kernel::reg_sort;
      if (time.length < 2 || !time.agrees || time.seconds <= 0) continue;
      if (time.length > longest_of_bins) continue;
      if (is_reg_sort && time.block_threads != block_threads_of_bins) continue;
      const auto [place, is_new] = best.try_emplace(time.length, time);
      if (!is_new && time.seconds < place->second.seconds) place->second = time;
    }
  }
  std::vector<PaperTime> chosen;
  for (const auto& [length, time] : best) chosen.push_back(time);
  return chosen;
}

PaperFigures paper_figures(const Context& context, const TuneOptions& options) {
  if (resolve_backend(context) != Backend::cuda) {
    throw Error(ErrorKind::unavailable,
                "the paper's kernels: found the host backend, expected CUDA");
  }
#ifdef SORTIE_HAVE_CUDA
  return paper_figures_on_cuda(context, options);
#else
  static_cast<void>(options);
  throw Error(ErrorKind::unavailable, "this build has no CUDA");
#endif
}

std::string paper_table(const PaperFigures& figures) {
  return "reg-sort (the paper's Fig. 9), Gpairs/s; bindings are threads:items, columns write "
         "method and threads of a block\n" +
         figure_table(figures.reg_sort, figures.items, true) +
         "smem-merge (the paper's Fig. 10), Gpairs/s\n" +
         figure_table(figures.smem_merge, figures.items, false) +
         "smem-merge with full and with uneven chunks (the paper's section 3.3), Gpairs/s\n" +
         chunks_table(figures.chunks, figures.items) +
         "the fastest bins, for papers/ics17/policy.cuh\n" + bins_header(figures);
}

std::string paper_json(const PaperFigures& figures) {
  const Json report = {{"items", figures.items},
                       {"key", "u32"},
                       {"value", "u32"},
                       {"reg_sort", to_json(figures.reg_sort, figures.items)},
                       {"smem_merge", to_json(figures.smem_merge, figures.items)},
                       {"chunks", to_json(figures.chunks, figures.items)},
                       {"bins", to_json(figures.bins(), figures.items)}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sortie::bench
