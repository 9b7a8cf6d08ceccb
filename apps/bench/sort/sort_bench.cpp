// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/sort/sort_bench.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string_view>

#include "sortie/error.hpp"

namespace sortie::bench {
namespace {

using Kind = SortCase::Kind;

struct Form {
  std::string_view name;
  Kind kind;
  bool has_parameter;
  double usual;
};

constexpr std::array forms = {Form{"uniform", Kind::uniform, false, 0},
                              Form{"normal", Kind::normal, true, 0.125},
                              Form{"zipf", Kind::zipf, true, 1},
                              Form{"sorted", Kind::sorted, false, 0},
                              Form{"reverse", Kind::reverse, false, 0},
                              Form{"nearly", Kind::nearly, true, 16},
                              Form{"entropy", Kind::entropy, true, 16},
                              Form{"high-bits", Kind::high_bits, true, 8},
                              Form{"few", Kind::few, true, 100},
                              Form{"equal", Kind::equal, false, 0},
                              Form{"shared-digit", Kind::shared_digit, false, 0}};

}  // namespace

SortCase parse_sort_case(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = std::string_view(text).substr(0, colon);
  for (const Form& form : forms) {
    if (form.name != name) continue;
    SortCase parsed{text, form.kind, form.usual};
    if (colon == std::string::npos) return parsed;
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data() + colon + 1, end, parsed.parameter);
    if (form.has_parameter && error == std::errc() && last == end && parsed.parameter >= 0)
      return parsed;
    break;
  }
  throw Error(
      ErrorKind::usage,
      fmt::format("case: found {}, expected uniform, normal[:DEVIATION], zipf[:EXPONENT], "
                  "sorted, reverse, nearly[:PLACES], entropy[:BITS], high-bits[:BITS], few[:KEYS], "
                  "equal or shared-digit",
                  sortie::quoted(text)));
}

std::vector<std::string> usual_sort_cases() {
  return {"uniform", "normal",    "zipf:0.5",   "zipf:1", "zipf:2",     "sorted",      "reverse",
          "nearly",  "entropy:8", "entropy:17", "equal",  "entropy:26", "shared-digit"};
}

std::vector<Row> sort_over_gpus(const Context& context, const SortBenchOptions& options,
                                const RowSink& sink) {
  std::vector<SortCase> cases;
  const auto names = options.cases.empty() ? usual_sort_cases() : options.cases;
  for (const std::string& text : names) cases.push_back(parse_sort_case(text));
  if (resolve_backend(context) != Backend::cuda)
    throw Error(ErrorKind::unavailable,
                "bench sort over GPUs: found the host backend, expected CUDA");
#ifdef SORTIE_HAVE_CUDA
  return sort_on_cuda(context, cases, options, sink);
#else
  static_cast<void>(sink);
  return {};
#endif
}

}  // namespace sortie::bench
