#include "sortie/apps/bench/spgemm_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "sortie/apps/bench/generator_spec.hpp"
#include "sortie/core/error.hpp"
#include "sortie/matrices/generators.hpp"
#include "sortie/matrices/matrix_market.hpp"

namespace sortie::bench {
namespace {

using matrices::Csr;

constexpr const char* generator_forms =
    "gen:er, gen:rmat, gen:banded, gen:stencil5, gen:stencil7, gen:stencil27 or gen:powerlaw";

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
    // A scale beyond what an int holds is refused by the generator as 63 is.
    const int scale = static_cast<int>(std::min<std::uint64_t>(spec.count(0), 63));
    return matrices::rmat<Value>(scale, size(1), seed);
  }
  if (spec.kind() == "banded") {
    spec.require_parameters(2, "gen:banded:ROWS:HALF_BANDWIDTH");
    return matrices::banded<Value>(size(0), size(1), seed);
  }
  if (spec.kind() == "stencil5") {
    spec.require_parameters(1, "gen:stencil5:N");
    return matrices::stencil<Value>(5, size(0), size(0), 1);
  }
  if (spec.kind() == "stencil7" || spec.kind() == "stencil27") {
    spec.require_parameters(1, "gen:" + spec.kind() + ":N");
    const int points = spec.kind() == "stencil7" ? 7 : 27;
    return matrices::stencil<Value>(points, size(0), size(0), size(0));
  }
  if (spec.kind() == "powerlaw") {
    spec.require_parameters(3, "gen:powerlaw:ROWS:EXPONENT:MAX_ROW_NNZ");
    return matrices::power_law<Value>(size(0), size(0), spec.real(1), size(2), seed);
  }
  spec.unknown(generator_forms);
}

template <class Value>
Csr<Value> make_matrix(const Context& context, const std::string& source, std::uint64_t seed) {
  if (GeneratorSpec::matches(source)) return generate<Value>(GeneratorSpec(source), seed);
  return matrices::read_matrix_market<Value>(context, source);
}

bool is_peer(spgemm::Algorithm algorithm) {
  return algorithm != spgemm::Algorithm::essc && algorithm != spgemm::Algorithm::fused &&
         algorithm != spgemm::Algorithm::row_wise;
}

template <class Value>
class SpgemmCase {
 public:
  SpgemmCase(const Context& context, const SpgemmOptions& options, const std::string& source)
      : context_(context), options_(options), source_(source) {
    context_.report = nullptr;  // phases of many methods would run together
    context_.backend = resolve_backend(context);
    matrix_ = make_matrix<Value>(context_, source, options.seed);
    if (matrix_.rows != matrix_.cols) {
      throw input_error(source, 0, fmt::format("a {} x {} matrix", matrix_.rows, matrix_.cols),
                        "a square one, which can be multiplied by itself");
    }
    Context host = context_;
    host.backend = Backend::host;
    expected_ = spgemm::multiply(host, matrix_, matrix_, spgemm::Algorithm::eigen);
  }

  std::vector<Row> run() {
    std::vector<Method> methods;
    for (const auto algorithm : chosen_algorithms()) methods.push_back(method(algorithm));
    std::vector<Row> rows = measure(std::move(methods), options_.repetitions);
#ifdef SORTIE_HAVE_CUDA
    if (context_.backend == Backend::cuda) {
      std::vector<Row> resident = run_on_device();
      std::move(resident.begin(), resident.end(), std::back_inserter(rows));
    }
#endif
    return rows;
  }

 private:
  std::vector<spgemm::Algorithm> chosen_algorithms() const {
    const auto offered = spgemm::algorithms(context_.backend);
    std::vector<spgemm::Algorithm> chosen = options_.algorithms;
    if (chosen.empty()) chosen.assign(offered.begin(), offered.end());
    std::erase(chosen, spgemm::Algorithm::automatic);
    return chosen;
  }

  Row row(spgemm::Algorithm algorithm, const std::string& case_name) const {
    Row row;
    row.case_name = case_name;
    row.method = spgemm::name(algorithm);
    row.backend = name(context_.backend);
    row.baseline = is_peer(algorithm);
    row.items = 2 * static_cast<std::uint64_t>(spgemm::count_products(matrix_, matrix_));
    row.unit = "GFLOP/s";
    return row;
  }

  bool is_right(const Csr<Value>& result) const {
    const double tolerance = options_.single_precision ? 1e-4 : 1e-11;
    spgemm::compare(result, expected_, matrix_, matrix_, tolerance);
    return true;
  }

  Method method(spgemm::Algorithm algorithm) {
    auto result = std::make_shared<Csr<Value>>();
    Method method;
    method.row = row(algorithm, source_);
    method.prepare = [result] { *result = {}; };
    method.run = [this, result, algorithm] {
      *result = spgemm::multiply(context_, matrix_, matrix_, algorithm);
    };
    method.check = [this, result] {
      const bool right = is_right(*result);
      *result = {};
      return right;
    };
    return method;
  }

#ifdef SORTIE_HAVE_CUDA
  std::vector<Row> run_on_device() {
    std::vector<SpgemmMethod<Value>> methods;
    for (const auto algorithm : chosen_algorithms()) {
      methods.push_back({algorithm, row(algorithm, source_ + " on the device"),
                         [this](const Csr<Value>& result) { return is_right(result); }});
    }
    return spgemm_on_device(context_, matrix_, std::move(methods), options_.repetitions);
  }
#endif

  Context context_;
  const SpgemmOptions& options_;
  std::string source_;
  Csr<Value> matrix_;
  Csr<Value> expected_;
};

}  // namespace

std::vector<Row> spgemm(const Context& context, const SpgemmOptions& options, const RowSink& sink) {
  std::vector<Row> all;
  for (const std::string& source : options.sources) {
    std::vector<Row> rows = options.single_precision
                                ? SpgemmCase<float>(context, options, source).run()
                                : SpgemmCase<double>(context, options, source).run();
    if (sink) sink(rows);
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace sortie::bench
