// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/decimal_text.hpp"
#include "core/files/byte_source.hpp"
#include "core/files/whole_file.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "matrices/entry_parser.hpp"
#include "matrices/matrix_text.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"
#include "sortie/graph_clusters.hpp"

namespace sortie::graphs {
namespace {

using matrices::Csr;
using matrices::MatrixText;

struct Edge {
  std::int32_t from;
  std::int32_t to;
  double weight;
};

struct Neighbour {
  std::int32_t vertex;
  double weight;
};

/// Parses lines of two labels and a weight. Sequential.
class LabelParser {
 public:
  LabelParser(std::string_view name, std::string_view text) : name_(name) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line_;
      parse(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  [[nodiscard]] std::vector<std::string> labels() const { return {labels_.begin(), labels_.end()}; }

  void require_memory_of_graph(const HostContext& context) const {
    require_budget(context, name_,
                   bytes_of({{std::ssize(edges_), 2 * sizeof(Neighbour) + sizeof(Edge)},
                             {2 * std::ssize(edges_), sizeof(std::int32_t) + sizeof(double)},
                             {std::ssize(labels_), sizeof(std::string)}}));
  }

  /// The undirected graph of the edges.
  [[nodiscard]] Csr<double> graph() && {
    const auto vertices = std::ssize(labels_);
    numbers_ = {};
    std::vector<std::int64_t> begins(vertices + 1, 0);
    for (const Edge& edge : edges_) {
      ++begins[edge.from + 1];
      ++begins[edge.to + 1];
    }
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    std::vector<Neighbour> neighbours(2 * edges_.size());
    std::vector<std::int64_t> ends(begins.begin(), begins.end() - 1);
    for (const Edge& edge : std::exchange(edges_, {})) {
      neighbours[ends[edge.from]++] = {edge.to, edge.weight};
      neighbours[ends[edge.to]++] = {edge.from, edge.weight};
    }
    // Of several edges between the same vertices, the heaviest is left.
    for_each_index(0, vertices, [&](std::uint64_t vertex) {
      const auto first = neighbours.begin() + begins[vertex];
      const auto last = neighbours.begin() + begins[vertex + 1];
      std::sort(first, last, [](const Neighbour& a, const Neighbour& b) {
        return a.vertex != b.vertex ? a.vertex < b.vertex : a.weight > b.weight;
      });
      ends[vertex] =
          std::unique(first, last,
                      [](const auto& a, const auto& b) { return a.vertex == b.vertex; }) -
          neighbours.begin();
    });
    Csr<double> graph{vertices, vertices, {0}, {}, {}};
    graph.row_ptr.reserve(vertices + 1);
    graph.col_idx.reserve(neighbours.size());
    graph.values.reserve(neighbours.size());
    for (std::int64_t vertex = 0; vertex < vertices; ++vertex) {
      for (std::int64_t i = begins[vertex]; i < ends[vertex]; ++i) {
        if (neighbours[i].weight == 0) continue;
        graph.col_idx.push_back(neighbours[i].vertex);
        graph.values.push_back(neighbours[i].weight);
      }
      graph.row_ptr.push_back(graph.nnz());
    }
    return graph;
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

  void parse(std::string_view line) {
    std::array<std::string_view, 4> fields;
    std::size_t count = 0;
    for (const char *at = line.data(), *const end = at + line.size(); count < fields.size();) {
      while (at != end && is_blank(*at)) ++at;
      if (at == end) break;
      const char* const first = at;
      while (at != end && !is_blank(*at)) ++at;
      fields[count++] = {first, static_cast<std::size_t>(at - first)};
    }
    if (count == 0 || fields[0].front() == '#') return;
    if (count == 1 || count == fields.size()) {
      throw input_error(name_, line_, count == 1 ? "one field" : "more than three fields",
                        "two labels and a weight");
    }
    const double weight = count == 3 ? weight_of(fields[2]) : 1;
    const std::int32_t from = number_of(fields[0]);
    const std::int32_t to = number_of(fields[1]);
    if (from != to) edges_.push_back({from, to, weight});
  }

  [[nodiscard]] double weight_of(std::string_view field) const {
    double weight = 0;
    const char* at = field.data();
    const char* const end = at + field.size();
    const auto status = matrices::detail::parse_real(at, end, weight);
    if (status == matrices::detail::NumberStatus::ok && at == end && weight >= 0 &&
        std::isfinite(weight))
      return weight;
    throw input_error(name_, line_, fmt::format("the weight {}", sortie::quoted(field)),
                      "a number of at least 0");
  }

  [[nodiscard]] std::int32_t number_of(std::string_view label) {
    const auto [found, is_new] =
        numbers_.try_emplace(label, static_cast<std::int32_t>(labels_.size()));
    if (is_new) {
      labels_.push_back(label);
      if (std::ssize(labels_) > std::numeric_limits<std::int32_t>::max())
        throw input_error(name_, line_, "2147483648 labels", "at most 2147483647");
    }
    return found->second;
  }

  std::string_view name_;
  std::uint64_t line_ = 0;
  std::unordered_map<std::string_view, std::int32_t> numbers_;
  std::vector<std::string_view> labels_;
  std::vector<Edge> edges_;
};

Csr<double> graph_of(const HostContext& context, MatrixText text) {
  const std::string name = text.name;
  if (text.header.field == matrices::Field::complex)
    throw input_error(name, 0, "complex values", "real weights");
  if (text.header.rows != text.header.cols) {
    throw input_error(name, 0,
                      fmt::format("{} rows and {} columns", text.header.rows, text.header.cols),
                      "a square matrix");
  }
  HostContext parsing = context;
  parsing.report = nullptr;  // its phases are those of the command
  if (text.header.rows > std::numeric_limits<std::int32_t>::max())
    throw input_error(name, 0, fmt::format("{} vertices", text.header.rows), "at most 2147483647");
  const auto matrix = std::move(text).parse<double, std::int32_t>(parsing, context);
  const PhaseTimer timer(context, "undirected graph");
  return undirected_graph(parsing, matrix, name);
}

}  // namespace

NamedGraph read_graph(const HostContext& context, const std::string& path) {
  if (matrices::is_npz_file(path)) return {graph_of(context, MatrixText(context, path)), {}};
  const std::string name = path == "-" ? "<stdin>" : path;
  PhaseTimer reading(context, "read");
  ByteBuffer bytes = read_all(path, context.memory_budget, threads_of(context));
  reading.set_bytes(bytes.size);
  reading.stop();
  const std::string_view text(bytes.data.get(), bytes.size);
  constexpr std::string_view banner = "%%MatrixMarket";
  if (text.starts_with(banner) || matrices::starts_as_npz(bytes.span()))
    return {graph_of(context, MatrixText(name, std::move(bytes))), {}};
  const PhaseTimer timer(context, "parse", text.size());
  start_host_runtime(context.threads);
  LabelParser parser(name, text);
  parser.require_memory_of_graph(context);
  std::vector<std::string> labels = parser.labels();
  Csr<double> graph = std::move(parser).graph();
  report_progress(context, "parse", text.size(), text.size());
  return {std::move(graph), std::move(labels)};
}

void write_clusters(const std::string& path, const Clusters& clusters,
                    const std::vector<std::string>& labels) {
  WholeFile file(path);
  std::array<char, decimal_text_room> digits;
  for (std::int64_t cluster = 0; cluster < clusters.count(); ++cluster) {
    const std::int64_t end = clusters.begins[cluster + 1];
    for (std::int64_t i = clusters.begins[cluster]; i < end; ++i) {
      const std::int32_t member = clusters.members[i];
      if (labels.empty()) {
        const char* const last = put_decimal(digits.data(), static_cast<std::uint64_t>(member) + 1);
        file.write(std::string_view(digits.data(), last));
      } else {
        file.write(labels[member]);
      }
      file.write(i + 1 == end ? "\n" : "\t");
    }
  }
  file.commit();
}

}  // namespace sortie::graphs
