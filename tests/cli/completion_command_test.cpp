// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/cli/program.hpp"

namespace sortie::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CompletionCommand : public ProgramTest {
 protected:
  /// What bash offers, sorted, for the last of the words, as readline splits them.
  std::vector<std::string> offered(const std::vector<std::string>& words) {
    const Result script = sortie::test::run({"completion", "bash"});
    EXPECT_EQ(script.exit_code, 0);
    EXPECT_EQ(script.err, "");
    write_file(path("completion.bash"), script.out);
    std::vector<std::string> arguments = {
        "-c",
        "set -u; source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); "
        "_sortie; for each in \"${COMPREPLY[@]}\"; do echo \"$each\"; done",
        "bash", path("completion.bash")};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const Result result = run(arguments, {.program = "/bin/bash"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
    std::vector<std::string> found = lines(result.out);
    std::sort(found.begin(), found.end());
    return found;
  }
};

TEST_F(CompletionCommand, BashCompletesSubcommands) {
  EXPECT_THAT(offered({"sortie", "sp"}), ElementsAre("spgemm"));
  EXPECT_THAT(offered({"sortie", "s"}), ElementsAre("search", "sort", "spgemm", "suffix-array"));
  EXPECT_THAT(offered({"sortie", "--v"}), ElementsAre("--version"));
  EXPECT_THAT(offered({"sortie", "completion", ""}), ElementsAre("bash", "zsh"));
}

TEST_F(CompletionCommand, BashCompletesOptionsOfTheSubcommand) {
  EXPECT_THAT(offered({"sortie", "spgemm", "--ma"}),
              ElementsAre("--mask", "--mask-complement", "--max-memory"));
  EXPECT_THAT(offered({"sortie", "query", "genome.fa", "--ma"}),
              ElementsAre("--max-hits", "--max-memory"));
  EXPECT_THAT(offered({"sortie", "sort", "-"}), Contains("-o"));
  EXPECT_THAT(offered({"sortie", "sort", "--"}), Not(Contains("--transpose-b")));
  EXPECT_THAT(offered({"sortie", "suffix-array", "--text", "--lc"}), ElementsAre("--lcp"));
}

TEST_F(CompletionCommand, BashCompletesValues) {
  EXPECT_THAT(offered({"sortie", "suffix-array", "--width", ""}),
              ElementsAre("32", "40", "64", "auto"));
  EXPECT_THAT(offered({"sortie", "suffix-array", "--width", "=", ""}),
              ElementsAre("32", "40", "64", "auto"));
  EXPECT_THAT(offered({"sortie", "suffix-array", "--width", "="}),
              ElementsAre("32", "40", "64", "auto"));
  EXPECT_THAT(offered({"sortie", "spgemm", "A.mtx", "--precision", "f"}),
              ElementsAre("f16", "f32", "f64"));
  // File names are left to readline, and a number has no completion.
  EXPECT_THAT(offered({"sortie", "spgemm", "-o", ""}), IsEmpty());
  EXPECT_THAT(offered({"sortie", "spgemm", "--threads", ""}), IsEmpty());
  EXPECT_THAT(offered({"sortie", "spgemm", ""}), IsEmpty());
}

TEST_F(CompletionCommand, ZshHasAFunctionPerSubcommand) {
  const Result script = run({"completion", "zsh"});
  EXPECT_EQ(script.exit_code, 0);
  EXPECT_EQ(script.err, "");
  EXPECT_EQ(lines(script.out).front(), "#compdef sortie sortie-bench");
  EXPECT_THAT(script.out, HasSubstr("\n_sortie_suffix_array() {\n"));
  EXPECT_THAT(script.out, HasSubstr("'(--width)--width=[Bits of a position: 32, 40, 64 or "
                                    "auto]:value:(auto 32 40 64)'\n"));
  EXPECT_THAT(script.out, HasSubstr("'(-o --output)-o+["));
  EXPECT_THAT(script.out, HasSubstr("'(-q --quiet -v --verbose)--quiet[No messages"));
  EXPECT_THAT(script.out, HasSubstr("]:value:_files'\n"));
  EXPECT_THAT(script.out, HasSubstr("'*--pattern=[Pattern (may be repeated)]"));
}

}  // namespace
}  // namespace sortie::test
