// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/query_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>

#include "apps/bench/suffix_array_bench.hpp"
#include "apps/suffix_array/program_calls.hpp"
#include "core/random.hpp"
#include "sortie/error.hpp"

namespace sortie::bench {
namespace {

using sequences::Text;
using suffix_array::Occurrences;
using suffix_array::PatternView;
using suffix_array::TextView;

/// A letter is used in random patterns if it makes up at least this share of the text, in percent.
constexpr std::uint64_t common_percent = 1;

struct Patterns {
  std::vector<std::uint8_t> letters;
  std::vector<std::uint64_t> begins;

  Patterns(std::uint64_t count, std::uint64_t length) : letters(count * length) {
    for (std::uint64_t i = 0; i <= count; ++i) begins.push_back(i * length);
  }
  [[nodiscard]] PatternView view() const { return {letters, begins}; }
};

void require_patterns(const QueryOptions& options) {
  std::uint64_t letters = 0;
  if (options.patterns != 0 && options.length != 0 &&
      !__builtin_mul_overflow(options.patterns, options.length, &letters)) {
    return;
  }
  throw Error(ErrorKind::usage,
              fmt::format("found {} patterns of {} letters, expected at least one "
                          "of each, and fewer than 2^64 letters in all",
                          options.patterns, options.length));
}

/// The positions at which a whole pattern fits in a record, numbered from 0.
class Places {
 public:
  Places(const Text& text, std::uint64_t length) : text_(text) {
    for (std::size_t i = 0; i < text.records.size(); ++i) {
      if (text.records[i].length < length) continue;
      records_.push_back(i);
      ends_.push_back(count() + text.records[i].length - length + 1);
    }
  }
  [[nodiscard]] std::uint64_t count() const { return ends_.empty() ? 0 : ends_.back(); }
  /// The position of place `number`, below count().
  [[nodiscard]] std::uint64_t position(std::uint64_t number) const {
    const auto at = std::upper_bound(ends_.begin(), ends_.end(), number) - ends_.begin();
    const auto index = static_cast<std::size_t>(at);
    return text_.records[records_[index]].offset + number - (index == 0 ? 0 : ends_[index - 1]);
  }

 private:
  const Text& text_;
  std::vector<std::size_t> records_;
  std::vector<std::uint64_t> ends_;
};

Patterns drawn_patterns(const Text& text, const std::string& source, const QueryOptions& options) {
  const Places places(text, options.length);
  if (places.count() == 0) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: found no record of {} letters, expected one to draw patterns from",
                            source, options.length));
  }
  Random random(options.seed);
  Patterns patterns(options.patterns, options.length);
  for (std::uint64_t i = 0; i < options.patterns; ++i) {
    const std::uint64_t from = places.position(random.below(places.count()));
    std::copy_n(text.symbols.begin() + static_cast<std::ptrdiff_t>(from), options.length,
                patterns.letters.begin() + static_cast<std::ptrdiff_t>(i * options.length));
  }
  return patterns;
}

Patterns random_patterns(const Text& text, const QueryOptions& options) {
  const auto counts = sequences::histogram(text);
  std::vector<std::uint8_t> letters;
  for (std::size_t symbol = 0; symbol < counts.size(); ++symbol) {
    if (counts[symbol] * 100 >= common_percent * text.symbols.size() && counts[symbol] != 0) {
      letters.push_back(static_cast<std::uint8_t>(symbol));
    }
  }
  // All 256 letters may be equally rare.
  if (letters.empty()) {
    for (std::size_t symbol = 0; symbol < counts.size(); ++symbol) {
      if (counts[symbol] != 0) letters.push_back(static_cast<std::uint8_t>(symbol));
    }
  }
  Random random(options.seed + 1);
  Patterns patterns(options.patterns, options.length);
  for (std::uint8_t& letter : patterns.letters) letter = letters[random.below(letters.size())];
  return patterns;
}

template <class Pos>
Method host_method(const Context& context, const QueryCase<Pos>& query, Row row, bool locates) {
  auto found = std::make_shared<Occurrences<Pos>>();
  Method method;
  method.row = std::move(row);
  method.row.method = locates ? "locate" : "count";
  method.prepare = [found] { *found = {}; };
  method.run = [=, &context] {
    if (locates) {
      *found = suffix_array::locate<Pos>(context, query.text, query.suffixes, query.patterns,
                                         query.most_hits);
      return;
    }
    found->ranges = suffix_array::find<Pos>(context, query.text, query.suffixes, query.patterns);
    found->begins.assign(query.patterns.size() + 1, 0);
  };
  method.check = [=, &context] {
    suffix_array::check_occurrences<Pos>(context, query.text, query.patterns, *found,
                                         locates ? query.most_hits : 0);
    *found = {};
    return true;
  };
  return method;
}

Row make_row(const Context& context, const std::string& case_name, const QueryOptions& options) {
  Row row;
  row.case_name = case_name;
  row.backend = name(context.backend);
  row.items = options.patterns;
  row.unit = "Mpat/s";
  row.items_a_unit = 1e6;
  return row;
}

template <class Pos>
std::vector<Row> run_case(const Context& context, const std::string& case_name,
                          const QueryCase<Pos>& query, const QueryOptions& options) {
  std::vector<Method> methods;
  bool from_host = true;
#ifdef SORTIE_HAVE_CUDA
  if (context.backend == Backend::cuda) {
    methods = query_methods_on_device<Pos>(
        context, query, make_row(context, case_name + " on the device", options));
    from_host = options.transfers;
  }
#endif
  if (from_host) {
    for (const bool locates : {false, true}) {
      methods.push_back(
          host_method<Pos>(context, query, make_row(context, case_name, options), locates));
    }
  }
  return measure(std::move(methods), options.repetitions);
}

template <class Pos>
std::vector<Row> run_source(const Context& context, const std::string& source, const Text& text,
                            const QueryOptions& options, const RowSink& sink) {
  const std::vector<std::uint64_t> separators = text.separators();
  const TextView view(text.symbols, separators);
  const Patterns drawn = drawn_patterns(text, source, options);
  const Patterns random = random_patterns(text, options);
  const std::vector<Pos> suffixes = suffix_array::build<Pos>(context, view);
  std::vector<Row> all;
  for (const bool are_drawn : {true, false}) {
    const Patterns& patterns = are_drawn ? drawn : random;
    std::vector<Row> rows =
        run_case<Pos>(context, fmt::format("{}, {}", source, are_drawn ? "drawn" : "random"),
                      {view, suffixes, patterns.view(), options.most_hits}, options);
    if (sink) sink(rows);
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace

std::vector<Row> query(const Context& context, const QueryOptions& options, const RowSink& sink) {
  require_patterns(options);
  Context quiet = context;
  quiet.report = nullptr;  // phases of many methods would run together
  quiet.backend = resolve_backend(context);
  std::vector<Row> all;
  for (const std::string& source : options.sources) {
    const Text text = text_of_source(quiet, source, options.seed);
    const bool wide = text.symbols.size() >= std::numeric_limits<std::uint32_t>::max();
    std::vector<Row> rows = wide ? run_source<std::uint64_t>(quiet, source, text, options, sink)
                                 : run_source<std::uint32_t>(quiet, source, text, options, sink);
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace sortie::bench
