// SPDX-License-Identifier: Apache-2.0
//
// `sortie spgemm` with a mask, a semiring, other types of values, or a filter of the rows of C.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/cli/backend_choice.hpp"
#include "apps/cli/command.hpp"
#include "apps/cli/spgemm_command.hpp"
#include "apps/cli/spgemm_operands.hpp"
#include "apps/spgemm/semiring.hpp"
#include "apps/spgemm/semiring_backends.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/error.hpp"
#include "sortie/matrix_market.hpp"
#include "sortie/semiring_spgemm.hpp"

namespace sortie::cli {
namespace {

using matrices::Csr;
using matrices::Element;
using matrices::Index;
using matrices::Pattern;
using spgemm::ProductOptions;
using spgemm::RowFilter;

RowFilter filter_of(const SpgemmCommand& command) {
  return {.keep_top = command.keep_top, .drop_below = command.drop_below};
}

/// \throws Error (usage) options that do not go together
void check_command(const SpgemmCommand& command) {
  const auto refuse = [](std::string_view found, std::string_view expected) {
    throw Error(ErrorKind::usage, fmt::format("found {}, expected {}", found, expected));
  };
  check_filter(filter_of(command));
  (void)spgemm::parse_semiring(command.semiring);
  if (command.mask_complement && command.path_mask.empty())
    refuse("--mask-complement without a mask", "--mask");
  if (command.algorithm != "auto")
    refuse(fmt::format("--algorithm {} with {}", command.algorithm, semiring_option(command)),
           "--algorithm auto");
  if (command.structure_only || command.drop_zeros)
    refuse(fmt::format("{} with {}", command.structure_only ? "--structure-only" : "--drop-zeros",
                       semiring_option(command)),
           "one of both");
  if (command.plan.ranks > 0 || command.gpus > 0)
    refuse("a plan of ranks with " + semiring_option(command), "one process on one device");
  const auto streams = std::vector{command.path_a, command.path_b, command.path_mask};
  if (std::count(streams.begin(), streams.end(), "-") > 1)
    refuse("standard input for several matrices", "one at most");
}

/// The value of an entry in another type. \throws Error (input) no such value
template <class To, class From>
To converted(From value, const std::string& name) {
  if constexpr (spgemm::is_complex<To>) {
    return To(value);
  } else if constexpr (std::is_same_v<To, std::uint8_t>) {
    return value != From{} ? 1 : 0;
  } else if constexpr (std::is_integral_v<To>) {
    // Integers beyond 2^53 have been rounded while they were read.
    constexpr double beyond =
        std::min(0x1p53, -static_cast<double>(std::numeric_limits<To>::min()));
    if (std::trunc(value) == value && std::abs(value) < beyond) return static_cast<To>(value);
    throw Error(ErrorKind::input,
                fmt::format("{}: found the value {}, expected integers below 2^{}", name, value,
                            std::ilogb(beyond)));
  } else if constexpr (Float16Like<To>) {
    const To rounded(value);
    if (std::isinf(float{rounded}) && std::isfinite(value))
      throw Error(ErrorKind::input,
                  fmt::format("{}: found the value {}, expected values up to {}", name, value,
                              std::is_same_v<To, Float16> ? 65504.0 : 3.39e38));
    return rounded;
  } else {
    return static_cast<To>(value);
  }
}

/// The type in which a matrix of values of type Value is read.
template <class Value>
using ReadType = std::conditional_t<
    spgemm::is_complex<Value>, std::complex<double>,
    std::conditional_t<std::is_same_v<Value, float> || Float16Like<Value>, float, double>>;

template <class To, matrices::Scalar From, Index Idx>
Csr<To, Idx> converted(Csr<From, Idx> matrix, const std::string& name) {
  if constexpr (std::is_same_v<From, To>) {
    return matrix;
  } else {
    std::vector<To> values(matrix.values.size());
    std::transform(matrix.values.begin(), matrix.values.end(), values.begin(),
                   [&](From value) { return converted<To>(value, name); });
    return {matrix.rows, matrix.cols, std::move(matrix.row_ptr), std::move(matrix.col_idx),
            std::move(values)};
  }
}

/// A, B and the mask, of which only A need be there.
template <Element Value, Index Idx>
struct Factors {
  Csr<Value, Idx> a;
  std::optional<Csr<Value, Idx>> other_b;
  std::optional<Pattern<Idx>> mask;

  [[nodiscard]] const Csr<Value, Idx>& b() const { return other_b ? *other_b : a; }
  [[nodiscard]] std::int64_t products(std::int64_t row) const {
    std::int64_t products = 0;
    for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i)
      products += b().row_ptr[a.col_idx[i] + 1] - b().row_ptr[a.col_idx[i]];
    return products;
  }
  [[nodiscard]] std::int64_t products() const {
    std::int64_t all = 0;
    for (std::int64_t row = 0; row < a.rows; ++row) all += products(row);
    return all;
  }
};

template <Index Idx>
Pattern<Idx> read_mask(const Job& job, MatrixText text) {
  if (text.header.field == matrices::Field::complex)
    return matrices::pattern_of(std::move(text).parse<std::complex<double>, Idx>(
        job.host_context(), job.reading_context()));
  return matrices::pattern_of(
      std::move(text).parse<float, Idx>(job.host_context(), job.reading_context()));
}

template <Element Value, Index Idx>
void choose_backend(Job& job, const Factors<Value, Idx>& factors) {
  if (!job.may_choose_backend()) return;
  if (factors.b().cols > (std::int64_t{1} << 32))
    return job.choose_backend(Backend::host, "more than 2^32 columns");
  const auto bytes = [](const Csr<Value, Idx>& matrix) {
    return static_cast<std::uint64_t>(matrix.nnz()) * (sizeof(Value) + sizeof(Idx)) +
           matrix.row_ptr.size() * sizeof(std::int64_t);
  };
  job.choose_backend(spgemm_seconds(
      factors.products(), bytes(factors.a) + (factors.other_b ? bytes(*factors.other_b) : 0),
      threads_of(job.reading_context())));
}

/// What `multiply` and --dry-run report of the operands. Returns their lines of the summary.
template <Element Value, Index Idx>
std::string report_factors(Job& job, const SpgemmCommand& command,
                           const Factors<Value, Idx>& factors) {
  RunReport& report = job.report();
  report.set("algorithm", command.algorithm);
  report.set("value_type", value_type(factors.a));
  report.set("index_bits", std::int64_t{8 * sizeof(Idx)});
  report.set("semiring", command.semiring);
  if (command.keep_top) report.set("keep_top", *command.keep_top);
  if (command.drop_below != 0) report.set("drop_below", command.drop_below);
  report_size(report, "a", size_of(factors.a));
  report_size(report, "b", size_of(factors.b()));
  report.set("products", factors.products());
  std::string text = line("A", size_of(factors.a));
  if (factors.other_b) text += line("B", size_of(factors.b()));
  if (!factors.mask) return text;
  report_size(report, "mask", size_of(*factors.mask));
  report.set("mask_complement", command.mask_complement);
  return text + line("M", size_of(*factors.mask), command.mask_complement ? ", complement" : "");
}

/// `--dry-run`: sizes, and the memory on the host.
template <Element Value, Index Idx>
void show_estimate(Job& job, const SpgemmCommand& command, const Factors<Value, Idx>& factors) {
  const bool masked = factors.mask && !command.mask_complement;
  std::int64_t bound = 0;
  for (std::int64_t row = 0; row < factors.a.rows; ++row) {
    std::int64_t entries = std::min(factors.products(row), factors.b().cols);
    if (factors.mask) {
      const std::int64_t of_mask = factors.mask->row_ptr[row + 1] - factors.mask->row_ptr[row];
      entries = std::min(entries, masked ? of_mask : factors.b().cols - of_mask);
    }
    bound += std::min(entries, command.keep_top.value_or(entries));
  }
  std::string text = report_factors(job, command, factors);
  RunReport& report = job.report();
  report.set("dry_run", true);
  report.set("rows_c", factors.a.rows);
  report.set("cols_c", factors.b().cols);
  report.set("nnz_c_bound", bound);
  const std::uint64_t bytes_c =
      bytes_of({{factors.a.rows + 1, sizeof(std::int64_t)}, {bound, sizeof(Idx) + sizeof(Value)}});
  report.set("bytes_c_bound", bytes_c);
  report.set("work_space_known", job.context().backend == Backend::host);
  text += fmt::format("C  {} x {}, at most {} entries, {}\n{} products over {}", factors.a.rows,
                      factors.b().cols, bound, format_bytes(bytes_c), factors.products(),
                      command.semiring);
  if (job.context().backend == Backend::host) {
    const std::int64_t sums = masked ? factors.mask->nnz() : 0;
    const std::uint64_t most =
        bytes_of({{factors.b().cols * threads_of(job.context()) + sums, sizeof(Value) + 1}});
    report.set("work_space_most", most);
    text += fmt::format("\nwork space on host: at most {}", format_bytes(most));
  }
  job.summarize("", text);
}

/// --verify: the product without its filter by its definition, and the filter by a sort.
template <Element Value, Index Idx>
void verify(const Job& job, const Factors<Value, Idx>& factors, ProductOptions<Idx> options,
            const Csr<Value, Idx>& c) {
  const PhaseTimer timer(job.context(), "verify");
  if (options.filter.keeps_all()) return check_product(factors.a, factors.b(), options, c);
  const RowFilter filter = options.filter;
  options.filter = {};
  Context context = job.context();
  context.report = nullptr;
  const Csr<Value, Idx> product = spgemm::multiply(context, factors.a, factors.b(), options);
  check_product(factors.a, factors.b(), options, product);
  check_filtered(product, filter, c);
}

/// C with values of a type that files have.
template <Element Value, Index Idx>
decltype(auto) for_file(const Csr<Value, Idx>& c) {
  if constexpr (Float16Like<Value>) {
    Csr<float, Idx> wide{c.rows, c.cols, c.row_ptr, c.col_idx, {}};
    wide.values.reserve(c.values.size());
    for (const Value value : c.values) wide.values.push_back(float{value});
    return wide;
  } else {
    return (c);
  }
}

template <Element Value, Index Idx>
void multiply(Job& job, const SpgemmCommand& command, const Factors<Value, Idx>& factors) {
  const ProductOptions<Idx> options{.semiring = spgemm::parse_semiring(command.semiring),
                                    .mask = factors.mask ? &*factors.mask : nullptr,
                                    .complement = command.mask_complement,
                                    .filter = filter_of(command)};
  Csr<Value, Idx> c;
  const double seconds = job.repeated("multiply", [&] {
    c = {};
    c = spgemm::multiply(job.context(), factors.a, factors.b(), options);
  });
  if (command.verify) verify(job, factors, options, c);
  report_checksum(job, command, c.row_ptr, c.col_idx, c.values);
  write_product(job, command, for_file(c));
  std::string text = report_factors(job, command, factors) + line("C", size_of(c));
  report_size(job.report(), "c", size_of(c));
  job.report().set("multiply_seconds", seconds);
  text += fmt::format("{} products over {} in {:.3f} ms on {} ({})", factors.products(),
                      command.semiring, 1e3 * seconds, name(job.context().backend),
                      value_type(factors.a));
  if (command.verify) {
    job.report().set("verified_by", "definition");
    text += "\nverified: equal to the product by its definition";
  }
  job.summarize(command.output, text);
}

}  // namespace

void run_semiring_spgemm(Job& job, const SpgemmCommand& command) {
  check_command(command);
  if (!command.dry_run) job.announce_output(command.output);
  OperandTexts texts(job.reading_context(), command.path_a, command.path_b, command.transpose_a,
                     command.transpose_b);
  const std::string precision = choose_precision(command, texts.any_complex());
  std::optional<MatrixText> mask;
  if (!command.path_mask.empty()) {
    mask.emplace(job.reading_context(), command.path_mask);
    const std::int64_t cols = command.transpose_b ? texts.header_b().rows : texts.header_b().cols;
    if (mask->header.rows != texts.a.header.rows || mask->header.cols != cols)
      throw Error(
          ErrorKind::input,
          fmt::format("{}: found a mask of {} x {}, expected one of {} x {}, the size of C",
                      mask->name, mask->header.rows, mask->header.cols, texts.a.header.rows, cols));
  }
  const auto run_with_types = [&]<class Value, class Idx>(Value, Idx) {
    spgemm::check_semiring<Value>(spgemm::parse_semiring(command.semiring));
    const std::string name_a = texts.a.name;
    const std::string name_b = texts.b ? texts.b->name : name_a;
    Operands<ReadType<Value>, Idx> operands(job, command.transpose_a, command.transpose_b,
                                            std::move(texts));
    Factors<Value, Idx> factors{converted<Value>(std::move(operands.a), name_a), {}, {}};
    if (operands.other_b) factors.other_b = converted<Value>(std::move(*operands.other_b), name_b);
    if (mask) factors.mask = read_mask<Idx>(job, std::move(*mask));
    choose_backend(job, factors);
    if (command.dry_run) return show_estimate(job, command, factors);
    multiply(job, command, factors);
  };
  const auto run_with = [&](auto value) {
    if (texts.need_wide_index()) return run_with_types(value, std::int64_t{});
    run_with_types(value, std::int32_t{});
  };
  if (precision == "bool") return run_with(std::uint8_t{});
  if (precision == "i32") return run_with(std::int32_t{});
  if (precision == "i64") return run_with(std::int64_t{});
  if (precision == "f16") return run_with(Float16{});
  if (precision == "bf16") return run_with(BFloat16{});
  if (precision == "f32") return run_with(float{});
  if (precision == "f64") return run_with(double{});
  if (precision == "complex-f32") return run_with(std::complex<float>{});
  run_with(std::complex<double>{});
}

}  // namespace sortie::cli
