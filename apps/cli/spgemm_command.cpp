#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <complex>
#include <limits>
#include <optional>

#include "sortie/apps/cli/command.hpp"
#include "sortie/apps/spgemm/spgemm.hpp"
#include "sortie/core/byte_source.hpp"
#include "sortie/core/error.hpp"
#include "sortie/matrices/matrix_market.hpp"
#include "sortie/matrices/matrix_market_text.hpp"

namespace sortie::cli {
namespace {

using matrices::Csr;
using spgemm::Algorithm;

// Largest error that --verify lets pass, relative to the products that make up an entry: some
// thousand roundings of the precision at hand, far below any wrong or missing product.
constexpr double single_tolerance = 1e-4;
constexpr double double_tolerance = 1e-11;

struct SpgemmCommand {
  CommonOptions common;
  std::string path_a;
  std::string path_b;
  std::string output;
  bool transpose_b = false;
  std::string precision = "auto";
  std::string algorithm = "auto";
  bool verify = false;
};

// A file read into memory, so that its header can be looked at before its entries, also when it is
// standard input.
struct MatrixText {
  MatrixText(const Context& context, const std::string& path)
      : name(path == "-" ? "<stdin>" : path) {
    PhaseTimer timer(context, "read");
    bytes = read_all(path);
    timer.set_bytes(bytes.size);
    header = matrices::parse_matrix_market_header(name, bytes.span());
  }

  std::string name;
  ByteBuffer bytes;
  matrices::MatrixMarketHeader header;
};

std::string shape(std::int64_t rows, std::int64_t cols) {
  return fmt::format("{} x {}", rows, cols);
}

template <class Value, class Idx>
std::string checksum_of(const Csr<Value, Idx>& matrix) {
  std::uint64_t sum = checksum_seed;
  const auto extend = [&sum](const auto& array) {
    sum = extend_checksum(sum, array.data(), array.size() * sizeof(array[0]));
  };
  extend(matrix.row_ptr);
  extend(matrix.col_idx);
  extend(matrix.values);
  return fmt::format("{:016x}", sum);
}

// Another algorithm than the one to be checked; both are independent of the sorting layer.
Algorithm checking_algorithm(Algorithm checked) {
  return checked == Algorithm::eigen ? Algorithm::reference : Algorithm::eigen;
}

template <class Value, class Idx>
class Multiplication {
 public:
  Multiplication(Job& job, const SpgemmCommand& command, MatrixText text_a,
                 std::optional<MatrixText> text_b)
      : job_(job), command_(command), algorithm_(spgemm::parse_algorithm(command.algorithm)) {
    a_ = parse(std::move(text_a));
    if (text_b) b_ = parse(std::move(*text_b));
    if (command.transpose_b) b_ = matrices::transpose(b_ ? *b_ : a_);
  }

  void run() {
    const double seconds = job_.repeated([this] {
      c_ = {};
      c_ = spgemm::multiply(job_.context(), a_, b(), algorithm_);
    });
    report(seconds);
    if (command_.verify) verify();
    if (!command_.output.empty()) {
      PhaseTimer timer(job_.context(), "write");
      matrices::write_matrix_market(job_.context(), command_.output, c_);
    }
    job_.summarize(command_.output, summary(seconds));
  }

 private:
  [[nodiscard]] const Csr<Value, Idx>& b() const { return b_ ? *b_ : a_; }

  Csr<Value, Idx> parse(MatrixText text) {
    PhaseTimer timer(job_.context(), "parse", text.bytes.size);
    return matrices::parse_matrix_market<Value, Idx>(job_.context(), text.name, text.bytes.span());
  }

  void report(double seconds) {
    products_ = spgemm::count_products(a_, b());
    RunReport& report = job_.report();
    report.set("algorithm", std::string(spgemm::name(algorithm_)));
    report.set("value_type", value_type());
    report.set("index_bits", std::int64_t{8 * sizeof(Idx)});
    const auto set_shape = [&report](const std::string& matrix, const Csr<Value, Idx>& csr) {
      report.set("rows_" + matrix, csr.rows);
      report.set("cols_" + matrix, csr.cols);
      report.set("nnz_" + matrix, csr.nnz());
    };
    set_shape("a", a_);
    set_shape("b", b());
    set_shape("c", c_);
    report.set("products", products_);
    report.set("multiply_seconds", seconds);
    report.set("gflops", gflops(seconds));
    report.set("checksum_c", checksum_of(c_));
  }

  void verify() {
    PhaseTimer timer(job_.context(), "verify");
    Context host = job_.context();
    host.backend = Backend::host;
    host.report = nullptr;
    const Algorithm other = checking_algorithm(algorithm_);
    const double tolerance = std::is_same_v<Value, float> ? single_tolerance : double_tolerance;
    spgemm::compare(c_, spgemm::multiply(host, a_, b(), other), a_, b(), tolerance);
    job_.report().set("verified_by", std::string(spgemm::name(other)));
  }

  [[nodiscard]] static std::string value_type() {
    if constexpr (std::is_same_v<Value, float>) return "f32";
    if constexpr (std::is_same_v<Value, double>) return "f64";
    return "complex";
  }

  [[nodiscard]] double gflops(double seconds) const {
    return seconds > 0 ? 2e-9 * static_cast<double>(products_) / seconds : 0;
  }

  [[nodiscard]] std::string summary(double seconds) const {
    const auto line = [](const char* label, const Csr<Value, Idx>& csr) {
      return fmt::format("{}  {}, {} entries\n", label, shape(csr.rows, csr.cols), csr.nnz());
    };
    std::string text = line("A", a_);
    if (b_) text += line("B", *b_);
    text += line("C", c_);
    text += fmt::format("{} products in {:.3f} ms on {} ({}, {}): {:.3f} GFLOP/s", products_,
                        1e3 * seconds, name(job_.context().backend), spgemm::name(algorithm_),
                        value_type(), gflops(seconds));
    if (command_.verify) {
      text += fmt::format("\nverified: equal to the product by {}",
                          spgemm::name(checking_algorithm(algorithm_)));
    }
    return text;
  }

  Job& job_;
  const SpgemmCommand& command_;
  Algorithm algorithm_;
  Csr<Value, Idx> a_;
  std::optional<Csr<Value, Idx>> b_;  ///< without it B is A
  Csr<Value, Idx> c_;
  std::int64_t products_ = 0;
};

void require_conforming(const SpgemmCommand& command, const MatrixText& a, const MatrixText& b) {
  const std::int64_t rows_b = command.transpose_b ? b.header.cols : b.header.rows;
  if (a.header.cols == rows_b) return;
  throw Error(ErrorKind::input,
              fmt::format("{} ({}) and {}{} ({}): found {} columns and {} rows, expected as many",
                          a.name, shape(a.header.rows, a.header.cols), b.name,
                          command.transpose_b ? " transposed, as read" : "",
                          shape(b.header.rows, b.header.cols), a.header.cols, rows_b));
}

bool needs_wide_index(const matrices::MatrixMarketHeader& header) {
  return std::max(header.rows, header.cols) > std::numeric_limits<std::int32_t>::max();
}

std::string choose_precision(const SpgemmCommand& command, bool any_complex) {
  if (command.precision == "auto") return any_complex ? "complex" : "f64";
  return command.precision;
}

void run_spgemm(Job& job, const SpgemmCommand& command) {
  if (command.path_a == "-" && command.path_b == "-") {
    throw Error(ErrorKind::usage, "found standard input for A and B, expected one file at least");
  }
  job.announce_output(command.output);
  MatrixText a(job.context(), command.path_a);
  std::optional<MatrixText> b;
  if (!command.path_b.empty()) b.emplace(job.context(), command.path_b);
  require_conforming(command, a, b ? *b : a);

  const auto& header_b = b ? b->header : a.header;
  const bool wide = needs_wide_index(a.header) || needs_wide_index(header_b);
  const bool any_complex =
      a.header.field == matrices::Field::complex || header_b.field == matrices::Field::complex;
  const std::string precision = choose_precision(command, any_complex);
  const auto run_with = [&]<class Value>(Value) {
    if (wide) {
      Multiplication<Value, std::int64_t>(job, command, std::move(a), std::move(b)).run();
    } else {
      Multiplication<Value, std::int32_t>(job, command, std::move(a), std::move(b)).run();
    }
  };
  if (precision == "f32") return run_with(float{});
  if (precision == "f64") return run_with(double{});
  run_with(std::complex<double>{});
}

}  // namespace

Command add_spgemm_command(CLI::App& program) {
  auto command = std::make_shared<SpgemmCommand>();
  CLI::App* parser = program.add_subcommand("spgemm", "Multiply sparse matrices: C = A * B");
  add_common_options(*parser, command->common);
  parser->add_option("A", command->path_a, "Matrix Market file, plain or gzip; -: standard input")
      ->required();
  parser->add_option("B", command->path_b, "Second factor (default: A)");
  parser->add_flag("--transpose-b", command->transpose_b, "Multiply by the transpose of B");
  parser->add_option("-o,--output", command->output,
                     "Write C to this Matrix Market file (-: standard output)");
  parser->add_option("--precision", command->precision, "f32, f64, complex or auto")
      ->check(CLI::IsMember({"auto", "f32", "f64", "complex"}))
      ->capture_default_str();
  parser
      ->add_option("--algorithm", command->algorithm,
                   "auto, essc, row-wise, reference, eigen, esc, cusparse, cusparse-alg1 ... alg3")
      ->capture_default_str();
  parser->add_flag("--verify", command->verify,
                   "Compare C with the product by Eigen; exit 3 when they differ");
  return make_command(parser, command, run_spgemm);
}

}  // namespace sortie::cli
