// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/segsort/paper_figures.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <tuple>

#include "sortie/error.hpp"

namespace sortie::bench {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(std::span<const PaperTime> times, std::uint64_t items) {
  Json list = Json::array();
  for (const PaperTime& time : times) {
    const double rate = time.rate(items);
    list.push_back({{"length", time.length},
                    {"threads", time.binding.threads},
                    {"items", time.binding.items},
                    {"write", time.binding.striped ? "striped" : "original"},
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

}  // namespace

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
         figure_table(figures.smem_merge, figures.items, false);
}

std::string paper_json(const PaperFigures& figures) {
  const Json report = {{"items", figures.items},
                       {"key", "u32"},
                       {"value", "u32"},
                       {"reg_sort", to_json(figures.reg_sort, figures.items)},
                       {"smem_merge", to_json(figures.smem_merge, figures.items)}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sortie::bench
