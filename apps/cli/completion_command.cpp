// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/completion_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

namespace sortie::cli {
namespace {

using Words = std::vector<std::string>;

struct CompletionCommand {
  CommonOptions common;
  const CLI::App* program = nullptr;
  std::string shell;
};

// --- What the parser knows -----------------------------------------------------------------------

std::vector<const CLI::App*> subcommands_of(const CLI::App& parser) {
  // A group of options is a nameless subcommand.
  return parser.get_subcommands([](const CLI::App* child) { return !child->get_name().empty(); });
}

// Options that the help shows: hidden ones have no group.
std::vector<const CLI::Option*> options_of(const CLI::App& parser) {
  return parser.get_options([](const CLI::Option* option) {
    return option->nonpositional() && !option->get_group().empty();
  });
}

std::vector<const CLI::Option*> positionals_of(const CLI::App& parser) {
  return parser.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

// The spellings on the command line, e.g. {"-o", "--output"}.
Words names_of(const CLI::Option& option) {
  Words names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

enum class Value { none, listed, file, other };

struct ValueInfo {
  Value kind = Value::none;
  Words listed;  // the permitted values of Value::listed
};

ValueInfo value_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return {};
  // CLI11 has no access to the values of a check, other than the description of it: the type name
  // is "TEXT:{auto,cuda,host}".
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find(":{");
  if (begin != std::string::npos && type.back() == '}') {
    const std::string list = type.substr(begin + 2, type.size() - begin - 3);
    return {Value::listed, CLI::detail::split(list, ',')};
  }
  // Numbers have type names of their own.
  return {type.starts_with("TEXT") ? Value::file : Value::other, {}};
}

/// Calls visit(parser, path) for a parser and all subcommands below it; `path` is its command line
/// without options, e.g. "sortie bench sort".
template <class Visit>
void for_each_parser(const CLI::App& parser, const std::string& path, const Visit& visit) {
  visit(parser, path);
  for (const CLI::App* child : subcommands_of(parser))
    for_each_parser(*child, fmt::format("{} {}", path, child->get_name()), visit);
}

std::string function_name(const std::string& path) {
  std::string name = "_" + path;
  for (char& c : name) {
    if (c == ' ' || c == '-') c = '_';
  }
  return name;
}

// --- bash ----------------------------------------------------------------------------------------

// The function knows the subcommand by `path`, the command line without options. Bash splits
// "--width=32" into three words.
constexpr const char* bash_head =
    R"(# bash completion of sortie, written by `sortie completion bash`

_sortie() {
  local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} path=sortie words='' files=no i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$path ${COMP_WORDS[i]}" in
)";
constexpr const char* bash_options = R"(    esac
  done
  if [[ $word == = ]]; then
    word=
  elif [[ $option == = && $COMP_CWORD -ge 2 ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case "$path $option" in
)";
constexpr const char* bash_words = R"(    *)
      case "$path" in
)";
// No match for compgen lets readline complete file names, which quotes them as needed.
constexpr const char* bash_tail = R"(      esac
      ;;
  esac
  if [[ -n $words ]]; then mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word"); fi
  if [[ $files == yes ]]; then compopt -o default 2>/dev/null; fi
  return 0
}
complete -F _sortie sortie sortie-bench
)";

std::string bash_patterns(const std::string& path, const Words& names) {
  Words patterns;
  for (const std::string& name : names) patterns.push_back(fmt::format("\"{} {}\"", path, name));
  return fmt::format("{}", fmt::join(patterns, " | "));
}

// The case of the options of one subcommand that have values.
std::string bash_values(const CLI::App& parser, const std::string& path) {
  std::string text;
  for (const CLI::Option* option : options_of(parser)) {
    const ValueInfo value = value_of(*option);
    if (value.kind == Value::none) continue;
    std::string action;
    if (value.kind == Value::listed)
      action = fmt::format("words='{}' ", fmt::join(value.listed, " "));
    if (value.kind == Value::file) action = "files=yes ";
    text += fmt::format("    {}) {};;\n", bash_patterns(path, names_of(*option)), action);
  }
  return text;
}

// The case of one subcommand: after "-" its options, else its subcommands, values or files.
std::string bash_case(const CLI::App& parser, const std::string& path) {
  Words options;
  for (const CLI::Option* option : options_of(parser)) {
    for (const std::string& name : names_of(*option)) options.push_back(name);
  }
  Words others;
  for (const CLI::App* child : subcommands_of(parser)) others.push_back(child->get_name());
  bool has_files = false;
  for (const CLI::Option* option : positionals_of(parser)) {
    const ValueInfo value = value_of(*option);
    has_files = has_files || value.kind == Value::file;
    others.insert(others.end(), value.listed.begin(), value.listed.end());
  }
  return fmt::format(
      "        \"{}\")\n"
      "          if [[ $word == -* ]]; then words='{}'; else words='{}' files={}; fi\n"
      "          ;;\n",
      path, fmt::join(options, " "), fmt::join(others, " "), has_files ? "yes" : "no");
}

std::string bash_script(const CLI::App& program) {
  Words paths;
  std::string values;
  std::string cases;
  for_each_parser(program, "sortie", [&](const CLI::App& parser, const std::string& path) {
    if (&parser != &program) paths.push_back(fmt::format("\"{}\"", path));
    values += bash_values(parser, path);
    cases += bash_case(parser, path);
  });
  return fmt::format("{}      {}) path+=\" ${{COMP_WORDS[i]}}\" ;;\n{}{}{}{}{}", bash_head,
                     fmt::join(paths, " | "), bash_options, values, bash_words, cases, bash_tail);
}

// --- zsh -----------------------------------------------------------------------------------------

// Text between brackets of a specification of _arguments, within single quotes.
std::string zsh_quoted(const std::string& text, std::string_view special) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
      continue;
    }
    if (special.find(c) != std::string_view::npos) quoted += '\\';
    quoted += c == '\n' ? ' ' : c;
  }
  return quoted;
}

std::string zsh_action(const ValueInfo& value) {
  if (value.kind == Value::listed) return fmt::format("({})", fmt::join(value.listed, " "));
  return value.kind == Value::file ? "_files" : "";
}

// One specification of _arguments per spelling of an option. Those that cannot follow it are in
// parentheses: all its spellings, unless it may be repeated, and options that it excludes.
std::string zsh_option(const CLI::Option& option) {
  const ValueInfo value = value_of(option);
  const bool repeats = option.get_items_expected_max() > 1;
  Words excluded = repeats ? Words{} : names_of(option);
  for (const CLI::Option* other : option.get_excludes()) {
    for (const std::string& name : names_of(*other)) excluded.push_back(name);
  }
  std::string prefix;
  if (!excluded.empty()) prefix = fmt::format("({})", fmt::join(excluded, " "));
  if (repeats) prefix += "*";
  std::string text;
  for (const std::string& name : names_of(option)) {
    const bool is_long = name.starts_with("--");
    std::string separator;
    std::string argument;
    if (value.kind != Value::none) {
      separator = is_long ? "=" : "+";  // --width 32 or --width=32; -t 4 or -t4
      argument = fmt::format("{}value:{}", option.get_items_expected_min() == 0 ? "::" : ":",
                             zsh_action(value));
    }
    text += fmt::format("    '{}{}{}[{}]{}'\n", prefix, name, separator,
                        zsh_quoted(option.get_description(), "[]\\"), argument);
  }
  return text;
}

std::string zsh_function(const CLI::App& parser, const std::string& path) {
  std::string specifications;
  for (const CLI::Option* option : options_of(parser)) specifications += zsh_option(*option);
  const std::vector<const CLI::App*> children = subcommands_of(parser);
  if (children.empty()) {
    for (const CLI::Option* option : positionals_of(parser)) {
      specifications +=
          fmt::format("    '{}{}:{}'\n", option->get_required() ? ":" : "::",
                      zsh_quoted(option->get_name(true), ":\\"), zsh_action(value_of(*option)));
    }
    return fmt::format(
        "{}() {{\n  local -a specifications=(\n{}  )\n"
        "  _arguments -s -S $specifications\n}}\n\n",
        function_name(path), specifications);
  }
  std::string names;
  std::string cases;
  for (const CLI::App* child : children) {
    names +=
        fmt::format("    '{}:{}'\n", child->get_name(), zsh_quoted(child->get_description(), "\\"));
    cases += fmt::format("      {}) {} ;;\n", child->get_name(),
                         function_name(fmt::format("{} {}", path, child->get_name())));
  }
  return fmt::format(
      "{}() {{\n"
      "  local curcontext=$curcontext state line\n"
      "  typeset -A opt_args\n"
      "  local -a specifications=(\n{}"
      "    '1: :->subcommand'\n"
      "    '*:: :->rest'\n"
      "  )\n"
      "  local -a subcommands=(\n{}  )\n"
      "  _arguments -C $specifications\n"
      "  case $state in\n"
      "    subcommand) _describe subcommand subcommands ;;\n"
      "    rest) case $words[1] in\n{}    esac ;;\n"
      "  esac\n"
      "}}\n\n",
      function_name(path), specifications, names, cases);
}

std::string zsh_script(const CLI::App& program) {
  std::string text =
      "#compdef sortie sortie-bench\n"
      "# zsh completion of sortie, written by `sortie completion zsh`\n\n";
  for_each_parser(program, "sortie", [&](const CLI::App& parser, const std::string& path) {
    text += zsh_function(parser, path);
  });
  // As a file in $fpath it is the body of the function _sortie; otherwise it is sourced.
  return text +
         "if [[ $funcstack[1] == _sortie ]]; then\n"
         "  _sortie \"$@\"\n"
         "else\n"
         "  compdef _sortie sortie sortie-bench\n"
         "fi\n";
}

void run_completion(Job& job, const CompletionCommand& command) {
  job.print(completion_script(*command.program, command.shell));
}

}  // namespace

std::string completion_script(const CLI::App& program, std::string_view shell) {
  return shell == "zsh" ? zsh_script(program) : bash_script(program);
}

Command add_completion_command(CLI::App& program) {
  auto command = std::make_shared<CompletionCommand>();
  CLI::App* parser = program.add_subcommand("completion", "Print the completion script of a shell");
  parser->footer(
      "bash: source <(sortie completion bash), e.g. in ~/.bashrc.\n"
      "zsh:  source <(sortie completion zsh), after compinit, e.g. in ~/.zshrc.\n"
      "The Debian package installs both.");
  add_version_option(*parser);
  parser->add_option("SHELL", command->shell, "bash or zsh")
      ->check(CLI::IsMember({"bash", "zsh"}))
      ->required();
  command->program = &program;
  command->common.quiet = true;
  return make_command(parser, command, run_completion);
}

}  // namespace sortie::cli
