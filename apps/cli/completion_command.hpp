// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "apps/cli/command.hpp"

namespace sortie::cli {

/// The script that completes the command line of `program` in a shell: subcommands, options, values
/// of options that list them (CLI::IsMember), and file names for other values that are text. Both
/// scripts need nothing but the shell.
/// \param shell  "bash" or "zsh"
[[nodiscard]] std::string completion_script(const CLI::App& program, std::string_view shell);

/// `completion`, which prints the script. It describes the commands that `program` has when it runs.
[[nodiscard]] Command add_completion_command(CLI::App& program);

}  // namespace sortie::cli
