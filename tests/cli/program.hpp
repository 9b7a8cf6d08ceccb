// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace sortie::test {

/// What a run of the program left behind.
struct Result {
  int exit_code = 0;  ///< 128 + signal when it was killed
  std::string out;
  std::string err;
};

/// The program of this build, or the one that SORTIE_PROGRAM names.
[[nodiscard]] std::string program_path();

struct Streams {
  std::string in = "/dev/null";  ///< file to be standard input
  std::string out = {};          ///< file to be standard output; empty: Result::out
  bool closed_pipe = false;      ///< standard output is a pipe that nobody reads any more
  std::vector<std::string> environment = {};  ///< "NAME=value", added to that of the test
  std::string program = program_path();
};

/// Runs `sortie` with the arguments. Subcommands that compute are given the backend of this test
/// run.
[[nodiscard]] Result run(std::vector<std::string> arguments, const Streams& streams = {});

/// As run(), on the host. For what is the same on each backend, such as refusals: the start of a device
/// can take seconds, more so beside others.
[[nodiscard]] Result run_on_host(std::vector<std::string> arguments, const Streams& streams = {});

/// Starts `sortie`, feeds `input` to the pipe (FIFO) at `pipe` that it reads, waits until all of it
/// but what the pipe holds is taken, and sends it `signal`. Standard output and error are dropped.
/// \return as Result::exit_code
[[nodiscard]] int run_until_signal(std::vector<std::string> arguments, const std::string& pipe,
                                   const std::string& input, int signal);

[[nodiscard]] std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& content);

/// Lines without their ends.
[[nodiscard]] std::vector<std::string> lines(const std::string& text);

/// A test with a folder of its own.
class ProgramTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }
  /// Names in the folder, sorted.
  [[nodiscard]] std::vector<std::string> names() const;

  static std::string matrix(const std::string& name) {
    return SORTIE_TEST_DATA "/matrices/valid/" + name;
  }
  static std::string sequence(const std::string& name) {
    return SORTIE_TEST_DATA "/sequences/valid/" + name;
  }

 private:
  std::filesystem::path folder_;
};

/// Expects a failure: that exit code, nothing on standard output, and one line "sortie: MESSAGE".
void expect_error(const Result& result, int exit_code, const std::string& message);

}  // namespace sortie::test
