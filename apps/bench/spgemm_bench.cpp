// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/spgemm_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "apps/bench/generator_spec.hpp"
#include "apps/bench/timing.hpp"
#include "apps/spgemm/baseline.hpp"
#include "apps/spgemm/row_patterns.hpp"
#include "core/files/byte_source.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "matrices/generators.hpp"
#include "matrices/matrix_market_text.hpp"
#include "sortie/error.hpp"
#include "sortie/matrix_market.hpp"
#include "sortie/spgemm_check.hpp"

namespace sortie::bench {
namespace {

using matrices::Csr;

constexpr const char* generator_forms =
    "gen:er, gen:rmat, gen:banded, gen:stencil5, gen:stencil7, gen:stencil9, gen:stencil27, "
    "gen:powerlaw or gen:web";

/// Points of the stencil of a generator; 0 for other generators.
int points_of(const std::string& kind) {
  for (const int points : {5, 7, 9, 27})
    if (kind == "stencil" + std::to_string(points)) return points;
  return 0;
}

template <class Value>
Csr<Value> generate(const GeneratorSpec& spec, std::uint64_t seed) {
  const auto size = [&](std::size_t index) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(spec.count(index), INT64_MAX));
  };
  if (spec.kind() == "er") {
    spec.require_parameters(2, "gen:er:ROWS:ROW_NNZ");
    return matrices::erdos_renyi<Value>(size(0), size(0), size(1), seed);
  }
  if (spec.kind() == "rmat") {
    spec.require_parameters(2, "gen:rmat:SCALE:EDGE_FACTOR");
    // Clamped to the int range; the generator rejects 63.
    const int scale = static_cast<int>(std::min<std::uint64_t>(spec.count(0), 63));
    return matrices::rmat<Value>(scale, size(1), seed);
  }
  if (spec.kind() == "banded") {
    spec.require_parameters(2, "gen:banded:ROWS:HALF_BANDWIDTH");
    return matrices::banded<Value>(size(0), size(1), seed);
  }
  if (const int points = points_of(spec.kind()); points != 0) {
    const std::size_t given = spec.parameters();
    const bool is_shuffled = given > 1 && spec.parameter(given - 1) == "shuffled";
    const std::size_t numbers = is_shuffled ? given - 1 : given;
    const bool is_flat = points == 5 || points == 9;
    std::vector<std::uint64_t> sides;
    if (numbers == 1 || numbers == 2) sides = spec.counts(0);
    if (sides.size() == 1) sides.assign(is_flat ? 2 : 3, sides[0]);
    if (sides.size() != (is_flat ? 2 : 3))
      spec.unknown(fmt::format("gen:{}:N[:UNKNOWNS][:shuffled], with N or {}", spec.kind(),
                               is_flat ? "NxN" : "NxNxN"));
    // Clamped; the generator rejects such a number of rows.
    const auto unknowns =
        static_cast<int>(numbers == 2 ? std::min<std::uint64_t>(spec.count(1), INT32_MAX) : 1);
    const auto side = [&](std::size_t i) {
      return static_cast<std::int64_t>(std::min<std::uint64_t>(sides[i], INT64_MAX));
    };
    auto matrix =
        matrices::stencil<Value>(points, side(0), side(1), is_flat ? 1 : side(2), unknowns);
    return is_shuffled ? matrices::renumbered(matrix, seed) : matrix;
  }
  if (spec.kind() == "powerlaw") {
    spec.require_parameters(3, "gen:powerlaw:ROWS:EXPONENT:MAX_ROW_NNZ");
    return matrices::power_law<Value>(size(0), size(0), spec.real(1), size(2), seed);
  }
  if (spec.kind() == "web") {
    spec.require_parameters(6, "gen:web:ROWS:NNZ:PRODUCTS:MAX_ROW_NNZ:SITE_ROWS:LOCALITY");
    return matrices::web_graph<Value>({.rows = size(0),
                                       .nnz = size(1),
                                       .products = size(2),
                                       .max_row_nnz = size(3),
                                       .site_rows = size(4),
                                       .locality = spec.real(5)},
                                      seed);
  }
  spec.unknown(generator_forms);
}

bool is_peer(spgemm::Algorithm algorithm) {
  return spgemm::find_baseline(algorithm) != nullptr;
}

bool reports_phases(spgemm::Algorithm algorithm) {
  const spgemm::Baseline* const baseline = spgemm::find_baseline(algorithm);
  return baseline == nullptr || baseline->reports_phases;
}

template <class Value>
class SpgemmCase {
 public:
  /// \throws Error (input) a matrix that is not square, for A * A; as ProductCheck
  SpgemmCase(const Context& context, const SpgemmOptions& options, const std::string& source,
             Csr<Value> matrix)
      : context_(context), options_(options), source_(source), matrix_(std::move(matrix)) {
    context_.report = nullptr;  // phases of different methods must not be mixed
    context_.backend = resolve_backend(context);
    if (options.transpose_b) transposed_ = matrices::transpose(matrix_);
    if (!options.transpose_b && matrix_.rows != matrix_.cols) {
      throw input_error(source, 0, fmt::format("a {} x {} matrix", matrix_.rows, matrix_.cols),
                        "a square one, which can be multiplied by itself");
    }
    check_.emplace(context_, matrix_, b(), options.checked_by);
    rows_by_products_ = count_rows_by_products();
  }

  std::vector<Row> run() {
    if (context_.backend == Backend::host) return from_host_to_host();
    std::vector<Row> rows;
#ifdef SORTIE_HAVE_CUDA
    rows = run_on_device();
#endif
    if (options_.transfers) {
      std::vector<Row> with_transfers = from_host_to_host();
      std::move(with_transfers.begin(), with_transfers.end(), std::back_inserter(rows));
    }
    return rows;
  }

 private:
  std::vector<spgemm::Algorithm> chosen_algorithms() const {
    const auto offered = spgemm::algorithms(context_.backend);
    std::vector<spgemm::Algorithm> chosen = options_.algorithms;
    if (!chosen.empty()) return chosen;
    // Rows that repeat no pattern are much work for `pattern`.
    const bool repeats =
        spgemm::patterns_repeat(matrix_, b(), spgemm::min_pattern_products_of_plan);
    std::copy_if(offered.begin(), offered.end(), std::back_inserter(chosen),
                 [&](spgemm::Algorithm algorithm) {
                   return algorithm != spgemm::Algorithm::pattern || repeats;
                 });
    return chosen;
  }

  Row row(spgemm::Algorithm algorithm, const std::string& case_name) const {
    Row row;
    row.case_name = case_name;
    row.method = spgemm::name(algorithm);
    row.backend = name(context_.backend);
    row.baseline = is_peer(algorithm);
    row.items = 2 * static_cast<std::uint64_t>(spgemm::count_products(matrix_, b()));
    row.unit = "GFLOP/s";
    row.product = ProductFigures{.products = static_cast<std::int64_t>(row.items / 2),
                                 .nnz_c = check_->expected().nnz(),
                                 .peak_work_space = std::nullopt,
                                 .rows_by_products = rows_by_products_};
    return row;
  }

  [[nodiscard]] std::vector<std::uint64_t> count_rows_by_products() const {
    std::vector<std::uint64_t> counts;
    for (std::int64_t i = 0; i < matrix_.rows; ++i) {
      std::uint64_t products = 0;
      for (std::int64_t k = matrix_.row_ptr[i]; k < matrix_.row_ptr[i + 1]; ++k) {
        const auto j = matrix_.col_idx[k];
        products += static_cast<std::uint64_t>(b().row_ptr[j + 1] - b().row_ptr[j]);
      }
      if (products == 0) continue;
      const auto entry = static_cast<std::size_t>(std::bit_width(products)) - 1;
      if (entry >= counts.size()) counts.resize(entry + 1);
      ++counts[entry];
    }
    return counts;
  }

  [[nodiscard]] bool is_right(const Csr<Value>& result) const {
    check_->compare(result);
    return true;
  }

  std::vector<Row> from_host_to_host() {
    std::vector<Method> methods;
    for (const auto algorithm : chosen_algorithms()) methods.push_back(method(algorithm));
    return measure(std::move(methods), options_.repetitions);
  }

  Method method(spgemm::Algorithm algorithm) {
    auto result = std::make_shared<Csr<Value>>();
    Method method;
    method.row = row(algorithm, source_);
    method.prepare = [result] { *result = {}; };
    method.run = [this, result, algorithm] {
      *result = spgemm::multiply(context_, matrix_, b(), algorithm);
    };
    method.check = [this, result] {
      const bool right = is_right(*result);
      *result = {};
      return right;
    };
    if (reports_phases(algorithm)) {
      method.run_phases = [this, result, algorithm] { return phases_of(algorithm, *result); };
    }
    return method;
  }

  PhaseSeconds phases_of(spgemm::Algorithm algorithm, Csr<Value>& result) const {
    RunReport report;
    Context reporting = context_;
    reporting.report = &report;
    const double all =
        timed_seconds([&] { result = spgemm::multiply(reporting, matrix_, b(), algorithm); });
    result = {};
    return phase_seconds(report, all);
  }

#ifdef SORTIE_HAVE_CUDA
  std::vector<Row> run_on_device() {
    std::vector<SpgemmMethod<Value>> methods;
    for (const auto algorithm : chosen_algorithms()) {
      methods.push_back({algorithm, row(algorithm, source_ + " on the device"),
                         [this](const Csr<Value>& result) { return is_right(result); }});
    }
    return spgemm_on_device(context_, matrix_, b(), std::move(methods), options_.repetitions);
  }
#endif

  Context context_;
  const SpgemmOptions& options_;
  std::string source_;
  [[nodiscard]] const Csr<Value>& b() const {
    return transposed_ ? *transposed_ : matrix_;
  }

  Csr<Value> matrix_;
  std::optional<Csr<Value>> transposed_;
  std::optional<spgemm::ProductCheck<Value, std::int32_t>> check_;
  std::vector<std::uint64_t> rows_by_products_;
};

/// The result rows of a loaded or generated matrix.
template <class Value>
std::vector<Row> run_case(const Context& context, const SpgemmOptions& options,
                          const std::string& source, Csr<Value> matrix) {
  return SpgemmCase<Value>(context, options, source, std::move(matrix)).run();
}

std::vector<Row> run_generated(const Context& context, const SpgemmOptions& options,
                               const std::string& source) {
  const GeneratorSpec spec(source);
  return options.single_precision
             ? run_case(context, options, source, generate<float>(spec, options.seed))
             : run_case(context, options, source, generate<double>(spec, options.seed));
}

std::vector<Row> run_file(const Context& context, const SpgemmOptions& options,
                          const std::string& source) {
  // Standard input can be read only once, so the whole text is read first.
  const std::string shown = source == "-" ? "<stdin>" : source;
  ByteBuffer text = read_all(source, 0, threads_of(context));
  const auto run = [&]<class Value>(Value) {
    Csr<Value> matrix = matrices::parse_matrix_market<Value>(
        {.threads = context.threads, .progress = {}}, shown, text.span());
    text = {};
    return run_case(context, options, source, std::move(matrix));
  };
  const auto header = matrices::parse_matrix_market_header(shown, text.span());
  if (header.field != matrices::Field::complex)
    return options.single_precision ? run(float{}) : run(double{});
  if (options.single_precision) {
    throw input_error(shown, 0, "complex entries",
                      "real ones, for f32: complex matrices are multiplied in f64 only");
  }
  return run(std::complex<double>{});
}

/// The result row of a source that failed before any method ran.
Row failed_source(const Context& context, const std::string& source, const Error& error) {
  Row row;
  row.case_name = source;
  row.backend = name(resolve_backend(context));
  row.unit = "GFLOP/s";
  row.failure = error.what();
  return row;
}

}  // namespace

PhaseSeconds phase_seconds(const RunReport& report, double all_seconds) {
  PhaseSeconds phases;
  double rest = all_seconds;
  for (const RunReport::Phase& phase : report.phases()) {
    phases.emplace_back(phase.name, phase.seconds);
    rest -= phase.seconds;
  }
  phases.emplace_back("rest", std::max(rest, 0.0));
  return phases;
}

std::vector<Row> spgemm(const Context& context, const SpgemmOptions& options, const RowSink& sink) {
  std::vector<Row> all;
  for (const std::string& source : options.sources) {
    std::vector<Row> rows;
    try {
      rows = GeneratorSpec::matches(source) ? run_generated(context, options, source)
                                            : run_file(context, options, source);
    } catch (const Error& error) {
      // An invalid file must not discard the rows of the other sources.
      if (error.kind() != ErrorKind::input && error.kind() != ErrorKind::out_of_memory) throw;
      rows = {failed_source(context, source, error)};
    }
    if (sink) sink(rows);
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
  return all;
}

namespace {

std::string spgemm_lines(std::span<const Row> rows, bool with_heading, bool with_phases) {
  constexpr const char* layout =
      "{:<28} {:<22} {:<5} {:>11} {:>11} {:>9} {:>12} {:>12} {:>11} {:>7}  {}\n";
  std::string text;
  if (with_heading) {
    text += fmt::format(layout, "case", "method", "on", "median ms", "allocating", "GFLOP/s",
                        "products", "nnz(C)", "work space", "x best", "agrees");
  }
  const auto shown = [](double number, const char* format) {
    return number > 0 ? fmt::format(fmt::runtime(format), number) : std::string();
  };
  for (const Row& row : rows) {
    const ProductFigures figures = row.product.value_or(ProductFigures{});
    text += fmt::format(layout, row.case_name, row.method, row.backend,
                        shown(1e3 * row.median_seconds(), "{:.3f}"),
                        shown(1e3 * row.median_allocating_seconds(), "{:.3f}"),
                        shown(row.rate(), "{:.4g}"), figures.products, figures.nnz_c,
                        figures.peak_work_space ? format_bytes(*figures.peak_work_space) : "",
                        shown(row.ratio_to_best_baseline(), "{:.2f}"), describe_result(row));
    if (with_phases && !row.phases.empty()) text += describe_phases(row) + '\n';
  }
  return text;
}

}  // namespace

std::string spgemm_table(std::span<const Row> rows, bool with_heading) {
  return spgemm_lines(rows, with_heading, false);
}

std::string spgemm_phase_table(std::span<const Row> rows, bool with_heading) {
  return spgemm_lines(rows, with_heading, true);
}

}  // namespace sortie::bench
