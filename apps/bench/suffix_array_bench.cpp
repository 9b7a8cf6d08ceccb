// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/suffix_array_bench.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <string_view>
#include <variant>

#include "apps/bench/generator_spec.hpp"
#include "sequences/generators.hpp"
#include "sortie/corpus.hpp"
#include "sortie/error.hpp"
#include "sortie/fasta.hpp"
#include "sortie/lcp.hpp"
#include "sortie/run_report.hpp"

namespace sortie::bench {
namespace {

using sequences::Text;
using suffix_array::ConstructionAlgorithm;

Text generate(const HostContext& context, const GeneratorSpec& spec, std::uint64_t seed) {
  if (spec.kind() == "mutated") {
    spec.require_parameters(3, "gen:mutated:FILE:N:RATE");
    const std::uint64_t length = spec.count(1);
    const double rate = spec.real(2);
    return sequences::mutated_copies(sequences::read_fasta(context, spec.parameter(0)), length,
                                     rate, seed);
  }
  if (spec.kind() == "period") {
    spec.require_parameters(2, 3, "gen:period:P:N[:DISTANCE]");
    const std::uint64_t period = std::max<std::uint64_t>(spec.count(0), 1);
    const std::uint64_t distance = spec.parameters() > 2 ? spec.count(2) : 0;
    return sequences::periodic_text(spec.count(1), period, distance, seed);
  }
  const bool known = spec.kind() == "dna" || spec.kind() == "repeats" ||
                     spec.kind() == "fibonacci" || spec.kind() == "letter";
  if (!known)
    spec.unknown(
        "gen:dna:N, gen:repeats:N, gen:mutated:FILE:N:RATE, gen:fibonacci:N, gen:letter:N or "
        "gen:period:P:N[:DISTANCE]");
  spec.require_parameters(1, "gen:" + spec.kind() + ":N");
  if (spec.kind() == "dna") return sequences::uniform_dna(spec.count(0), seed);
  if (spec.kind() == "repeats") return sequences::repetitive_dna(spec.count(0), seed);
  if (spec.kind() == "fibonacci") return sequences::fibonacci_text(spec.count(0));
  return sequences::one_letter(spec.count(0));
}

Text make_text(const HostContext& context, const std::string& source, std::uint64_t seed) {
  if (GeneratorSpec::matches(source)) return generate(context, GeneratorSpec(source), seed);
  constexpr std::string_view plain = "text:";
  if (!source.starts_with(plain)) return sequences::read_fasta(context, source);
  const std::string path = source.substr(plain.size());
  texts::Corpus corpus = texts::read_corpus(context, {&path, 1}, {.format = texts::Format::plain});
  Text text;
  text.records = {{path, 0, corpus.bytes.size()}};
  text.symbols = std::move(corpus.bytes);
  return text;
}

std::vector<ConstructionAlgorithm> methods_for(const SuffixArrayOptions& options, Backend backend) {
  if (!options.algorithms.empty()) return options.algorithms;
  std::vector<ConstructionAlgorithm> chosen = suffix_array::algorithms_on(backend);
  std::erase_if(chosen, [](const ConstructionAlgorithm& known) { return !known.measured; });
  return chosen;
}

template <class Pos>
class SuffixArrayCase {
 public:
  SuffixArrayCase(const Context& context, const std::string& source, const Text& text)
      : context_(context),
        source_(source),
        separators_(text.separators()),
        view_(text.symbols, separators_) {
    context_.report = nullptr;  // phases of many methods would run together
    context_.backend = resolve_backend(context);
  }

  std::vector<Row> run(const SuffixArrayOptions& options) {
    std::vector<Method> methods;
    std::vector<Row> rows;
#ifdef SORTIE_HAVE_CUDA
    std::vector<DeviceRow> on_device;
#endif
    for (const ConstructionAlgorithm& algorithm : methods_for(options, context_.backend)) {
#ifdef SORTIE_HAVE_CUDA
      if (context_.backend == Backend::cuda && algorithm.runs_on(Backend::cuda)) {
        on_device.push_back({algorithm, row(algorithm)});
        on_device.back().row.case_name += " on the device";
        if (!options.transfers) continue;
      }
#endif
      methods.push_back(method(algorithm));
    }
#ifdef SORTIE_HAVE_CUDA
    if (!on_device.empty()) {
      rows =
          suffix_array_on_device<Pos>(context_, view_, std::move(on_device), options.repetitions);
    }
#endif
    std::vector<Row> others = measure(std::move(methods), options.repetitions);
    std::move(others.begin(), others.end(), std::back_inserter(rows));
    if (options.rounds_from != 0 && !rows.empty()) {
      tell_rounds(options.rounds_from, rows.front());
    }
    return rows;
  }

 private:
  [[nodiscard]] Row row(const ConstructionAlgorithm& algorithm) const {
    Row row;
    row.case_name = source_;
    row.method = algorithm.name;
    row.backend = name(context_.backend);
    row.baseline = !algorithm.is_own;
    row.items = view_.size();
    row.unit = "MB/s";
    row.items_a_unit = 1e6;
    return row;
  }

  /// Fills row.rounds from one more construction, by prefix doubling, and its LCP array.
  void tell_rounds(std::uint64_t first_depth, Row& row) const {
    RunReport report;
    Context reporting = context_;
    reporting.report = &report;
    const std::vector<Pos> suffixes = suffix_array::build<Pos>(reporting, view_);
    for (const auto& [figure, value] : report.figures()) {
      if (const auto* count = std::get_if<std::uint64_t>(&value)) {
        row.construction.emplace_back(figure, *count);
      }
    }
    const std::vector<Pos> lcp = suffix_array::lcp_array<Pos>(context_, view_, suffixes);
    row.rounds = suffix_array::doubling_rounds<Pos>(lcp, first_depth);
  }

  Method method(const ConstructionAlgorithm& algorithm) {
    auto result = std::make_shared<std::vector<Pos>>();
    Method method;
    method.row = row(algorithm);
    method.prepare = [result] { *result = {}; };
    method.run = [this, result, algorithm] {
      *result = suffix_array::build_by<Pos>(algorithm, context_, view_);
    };
    method.check = [this, result] {
      suffix_array::check<Pos>({.threads = context_.threads, .progress = {}}, view_, *result);
      *result = {};
      return true;
    };
    return method;
  }

  Context context_;
  std::string source_;
  std::vector<std::uint64_t> separators_;
  suffix_array::TextView view_;
};

}  // namespace

std::vector<Row> suffix_array(const Context& context, const SuffixArrayOptions& options,
                              const RowSink& sink) {
  std::vector<Row> all;
  for (const std::string& source : options.sources) {
    const Text text = text_of_source(context, source, options.seed);
    const bool wide = text.symbols.size() >= std::numeric_limits<std::uint32_t>::max();
    std::vector<Row> rows =
        wide ? SuffixArrayCase<std::uint64_t>(context, source, text).run(options)
             : SuffixArrayCase<std::uint32_t>(context, source, text).run(options);
    if (sink) sink(rows);
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
  return all;
}

sequences::Text text_of_source(const Context& context, const std::string& source,
                               std::uint64_t seed) {
  return make_text({.threads = context.threads, .progress = context.progress}, source, seed);
}

}  // namespace sortie::bench
