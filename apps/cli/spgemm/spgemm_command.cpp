// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "apps/cli/command.hpp"
#include "apps/cli/spgemm/spgemm_operands.hpp"
#include "apps/spgemm/baseline.hpp"

namespace sortie::cli {

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
  auto* precision =
      parser->add_option("--precision", command->precision, "f32, f64, complex or auto")
          ->check(CLI::IsMember({"auto", "f32", "f64", "complex"}))
          ->capture_default_str();
  parser->add_option("--algorithm", command->algorithm, spgemm::algorithm_names())
      ->capture_default_str();
  parser->add_flag("--verify", command->verify,
                   "Compare C with the product of another algorithm; exit 3 if they differ");
  auto* dry_run = parser->add_flag("--dry-run", command->dry_run,
                                   "Show the size and memory of the product without computing it");
  auto* drop_zeros =
      parser->add_flag("--drop-zeros", command->drop_zeros, "Remove entries of C that are zero");
  parser
      ->add_flag("--structure-only", command->structure_only,
                 "Compute only the structure of C, written as a pattern; values are not used")
      ->excludes(precision)
      ->excludes(dry_run)
      ->excludes(drop_zeros);
  return make_command(parser, command, run_spgemm);
}

}  // namespace sortie::cli
