// SPDX-License-Identifier: Apache-2.0
#include "sortie/cluster_suffix_array.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apps/suffix_array/ranks/array_file.hpp"
#include "apps/suffix_array/ranks/build_plan.hpp"
#include "apps/suffix_array/ranks/results.hpp"
#include "cluster/fault_hook.hpp"
#include "core/files/checksum.hpp"
#include "sortie/error.hpp"
#include "sortie/fasta.hpp"
#include "sortie/run_report.hpp"
#include "tests/cluster/expect_array.hpp"
#include "tests/suffix_array/texts.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/shared_folder.hpp"

namespace sortie::cluster {
namespace {

using test::expect_equal_array;
using test::NamedText;
using test::on_host;
using test::on_one_machine;

std::vector<NamedText> texts_named(std::initializer_list<std::string_view> names) {
  std::vector<NamedText> texts = test::tricky_texts();
  std::erase_if(texts, [&](const NamedText& text) {
    return std::ranges::find(names, text.name) == names.end();
  });
  EXPECT_EQ(texts.size(), names.size());
  return texts;
}

TEST(ClusterSuffixArray, EqualsThatOfOneMachine) {
  const std::vector<NamedText> texts =
      texts_named({"empty", "banana", "one_letter", "many_short_records", "random_256"});
  test::on_ranks([&](Ranks& ranks) {
    for (const NamedText& text : texts) expect_equal_array<std::uint32_t>(ranks, text);
  });
}

TEST(ClusterSuffixArray, HasPositionsOf64Bits) {
  const NamedText text = test::single("fibonacci", test::fibonacci(200));
  test::on_few_ranks([&](Ranks& ranks) { expect_equal_array<std::uint64_t>(ranks, text); });
}

TEST(ClusterSuffixArray, SortsAGenome) {
  const sequences::Text genome =
      sequences::read_fasta({}, SORTIE_SOURCE_DIR "/sequences/sample/ecoli_k12_mg1655.fa.gz");
  NamedText text{"E. coli", {}, {}};
  text.symbols.assign(genome.symbols.begin(), genome.symbols.begin() + 200'000);
  test::on_few_ranks([&](Ranks& ranks) { expect_equal_array<std::uint32_t>(ranks, text); });
}

TEST(ClusterSuffixArray, WithLittleMemoryTheTextIsScannedSeveralTimes) {
  NamedText text = test::single("random", test::random_letters(600'000, 4, 'A', 1));
  text.separators = {77'777};
  text.symbols[77'777] = 0;
  test::on_few_ranks([&](Ranks& ranks) {
    const SuffixArrayShare<std::uint32_t> expected = on_one_machine<std::uint32_t>(ranks, text);
    const auto size = static_cast<std::uint64_t>(ranks.size());
    const std::uint64_t share = text.symbols.size() / size + 1;
    Context little = on_host;
    little.memory_budget =
        text.symbols.size() * 3 / 8 + suffix_array::share_memory(share, 4).least + 1000;
    const auto found =
        build_suffix_array<std::uint32_t>(ranks, little, text.view(), {.check = true});
    EXPECT_EQ(found.suffixes,
              test::part(expected.suffixes, found.begin, found.begin + found.suffixes.size()));
  });
}

TEST(ClusterSuffixArray, BothChecksFindAWrongEntry) {
  const NamedText text = test::joined("records", {"ACGTACGTTA", "ACGTACGTTA", "GATTACA", ""});
  test::on_few_ranks([&](Ranks& ranks) {
    SuffixArrayShare<std::uint32_t> share = on_one_machine<std::uint32_t>(ranks, text);
    const auto rank = static_cast<std::uint64_t>(ranks.rank());
    const auto size = static_cast<std::uint64_t>(ranks.size());
    const std::uint64_t symbols = text.symbols.size();
    const std::vector<std::uint32_t> right = share.suffixes;
    for (const bool by_text : {false, true}) {
      // Swapped neighbours, a position twice, and a position beyond the text; none is right.
      for (std::uint64_t at = 0; at <= symbols; ++at) {
        for (const std::uint64_t wrong : {std::uint64_t{0}, std::uint64_t{1}, symbols}) {
          share.suffixes = right;
          if (at < symbols && wrong == 0) {
            std::swap(share.suffixes[at], share.suffixes[(at + 1) % symbols]);
          } else if (at < symbols) {
            share.suffixes[at] =
                wrong == 1 ? right[(at + 1) % symbols] : static_cast<std::uint32_t>(symbols);
          }
          share.begin = rank * symbols / size;
          share.suffixes = test::part(share.suffixes, share.begin, (rank + 1) * symbols / size);
          suffix_array::on_ranks::Exchanges exchanges(ranks);
          const suffix_array::on_ranks::PackedText packed(
              ranks, on_host, RankMemory(ranks, HostContext()),
              suffix_array::on_ranks::RankText(text.view()),
              [](std::uint64_t) { return std::uint64_t{0}; });
          bool is_right = true;
          try {
            suffix_array::on_ranks::check_share<std::uint32_t>(exchanges, on_host, packed, share,
                                                               {}, by_text);
          } catch (const Error& error) {
            is_right = false;
            EXPECT_EQ(error.kind(), ErrorKind::check);
          }
          EXPECT_EQ(is_right, at == symbols) << at << " " << wrong << " " << by_text;
        }
      }
    }
  });
}

TEST(ClusterSuffixArray, ReportsEqualPlannedAndExchangedBytes) {
  const NamedText text = texts_named({"random_4"}).front();
  test::on_few_ranks([&](Ranks& ranks) {
    RunReport report;
    Context context = on_host;
    context.report = &report;
    static_cast<void>(build_suffix_array<std::uint32_t>(ranks, context, text.view()));
    const auto figure = [&](std::string_view name) {
      for (const auto& [key, value] : report.figures())
        if (key == name) return std::get<std::uint64_t>(value);
      ADD_FAILURE() << "no figure " << name;
      return std::uint64_t{0};
    };
    EXPECT_EQ(figure("planned_exchange_bytes"), figure("exchanged_bytes"));
    EXPECT_EQ(figure("exchanged_bytes") > 0, ranks.size() > 1);
  });
}

TEST(ClusterSuffixArray, RefusesWhatOneMachineRefuses) {
  test::on_few_ranks([](Ranks& ranks) {
    NamedText text = test::joined("two", {"A", "B"});
    text.separators = {3};
    const auto message = [&](const Context& context) -> std::string {
      try {
        static_cast<void>(build_suffix_array<std::uint32_t>(ranks, context, text.view()));
      } catch (const Error& error) {
        return error.what();
      }
      return "none";
    };
    EXPECT_EQ(message(on_host),
              "rank 0: suffix array, separator 0: found position 3, expected ascending positions "
              "below 3");
    text = test::single("long", std::string(100'000, 'A'));
    Context little = on_host;
    little.memory_budget = 30'000;
    EXPECT_THAT(message(little),
                testing::AllOf(testing::HasSubstr("29.30 KiB (30000 bytes) are free"),
                               testing::HasSubstr(" ranks are enough")));
  });
}

/// Builds and writes the suffix array; returns its checksum.
std::string write_suffix_array(Ranks& ranks, const NamedText& text, const std::string& path) {
  const auto share = build_suffix_array<std::uint32_t>(ranks, on_host, text.view(),
                                                       {.lcp = true, .bwt = true, .check = true});
  suffix_array::on_ranks::ArrayFile file(ranks, on_host, path);
  const std::string checksum =
      file.write(share.begin, std::span<const std::uint32_t>(share.suffixes), 5);
  file.prepare([] { return "described"; });
  suffix_array::on_ranks::ArrayFile* const files[] = {&file};
  suffix_array::on_ranks::commit_all(files);
  return checksum;
}

TEST(ClusterSuffixArray, WritesTheBytesOfOneMachine) {
  // More than two blocks of the checksum, of which the borders are not those of shares.
  const NamedText text = test::single("long", test::random_letters(600'000, 4, 'A', 1));
  test::on_few_ranks([&](Ranks& ranks) {
    const test::SharedFolder folder(ranks);
    const SuffixArrayShare<std::uint32_t> expected = on_one_machine<std::uint32_t>(ranks, text);
    const std::string checksum = write_suffix_array(ranks, text, folder.path("array"));
    std::string bytes;
    for (const std::uint32_t position : expected.suffixes) {
      for (int shift = 0; shift < 40; shift += 8)
        bytes += static_cast<char>(std::uint64_t{position} >> shift & 255);
    }
    EXPECT_EQ(test::content_of(folder.path("array")) == bytes, true);
    EXPECT_EQ(test::content_of(folder.path("array.json")), "described");
    EXPECT_EQ(checksum, checksum_of(1, bytes));
    EXPECT_EQ(folder.entries(), 2u);
  });
}

/// A folder with the name of the second description: it cannot be renamed.
TEST(ClusterSuffixArray, AnArrayThatCannotBeRenamedTakesTheOthersWithIt) {
  test::on_few_ranks([&](Ranks& ranks) {
    const test::SharedFolder folder(ranks);
    using suffix_array::on_ranks::ArrayFile;
    ArrayFile first(ranks, on_host, folder.path("first"));
    ArrayFile second(ranks, on_host, folder.path("second"));
    const std::vector<std::uint32_t> numbers(10);
    for (ArrayFile* const file : {&first, &second}) {
      static_cast<void>(file->write(10 * static_cast<std::uint64_t>(ranks.rank()),
                                    std::span<const std::uint32_t>(numbers), 4));
      file->prepare([] { return "described"; });
    }
    ranks.on_rank(0, "make folder",
                  [&] { std::filesystem::create_directory(folder.path("second.json")); });
    ArrayFile* const files[] = {&first, &second};
    try {
      suffix_array::on_ranks::commit_all(files);
      ADD_FAILURE() << "expected an error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::output);
    }
    static_cast<void>(ranks.sum(0));  // rank 0 has removed them
    EXPECT_FALSE(std::filesystem::exists(folder.path("first")));
    EXPECT_FALSE(std::filesystem::exists(folder.path("first.json")));
    EXPECT_FALSE(std::filesystem::exists(folder.path("second")));
  });
}

/// The names of the phases of each rank while all do `work`. Collective.
std::vector<std::set<std::string>> phases_of(Ranks& ranks, const std::function<void()>& work) {
  static std::mutex mutex;
  static std::map<int, std::string> names;  // of the ranks of this process
  const bool sets_hook = ranks.rank() == 0 || ranks.transport() != "threads";
  static_cast<void>(ranks.sum(0));
  if (sets_hook) {
    names.clear();
    set_fault_hook([](int rank, std::string_view phase) {
      const std::lock_guard lock(mutex);
      names[rank] += std::string(phase) + "\n";
    });
  }
  static_cast<void>(ranks.sum(0));
  work();
  static_cast<void>(ranks.sum(0));
  if (sets_hook) set_fault_hook({});
  std::string own;
  {
    const std::lock_guard lock(mutex);
    own = names[ranks.rank()];
  }
  std::vector<std::uint64_t> lengths;
  const std::vector<char> all = ranks.gather_arrays(std::span<const char>(own), &lengths);
  std::vector<std::set<std::string>> phases;
  auto begin = all.begin();
  for (const std::uint64_t length : lengths) {
    const auto end = begin + static_cast<std::ptrdiff_t>(length);
    std::istringstream lines(std::string(begin, end));
    begin = end;
    phases.emplace_back();
    for (std::string line; std::getline(lines, line);) phases.back().insert(line);
  }
  return phases;
}

TEST(ClusterSuffixArray, AFaultOnAnyRankIsThrownByAllAndLeavesNoFile) {
  const NamedText text = test::single("fibonacci", test::fibonacci(1000));
  test::on_few_ranks([&](Ranks& ranks) {
    const test::SharedFolder folder(ranks);
    const auto phases = phases_of(
        ranks, [&] { static_cast<void>(write_suffix_array(ranks, text, folder.path("good"))); });
    EXPECT_TRUE(phases[0].contains("sort samples"));
    EXPECT_EQ(phases[0].contains("place edges"), ranks.size() > 1);
    const std::vector<int> all_failing = {0, ranks.size() / 2, ranks.size() - 1};
    int number = 0;
    for (const std::string& phase : phases[0]) {
      std::vector<int> failing_ranks = all_failing;
      if (ranks.transport() != "threads") {
        // There may be many processes on few cores: each number of them takes some of the phases,
        // and one rank for each. Up to 8 processes take all phases.
        const int parts = ranks.size() > 8 ? 9 : 3;
        if (++number % parts != ranks.size() % parts) continue;
        failing_ranks = {all_failing[static_cast<std::size_t>(number / parts % 3)]};
      }
      for (int failing : failing_ranks) {
        if (!phases[static_cast<std::size_t>(failing)].contains(phase)) failing = 0;
        const test::Fault fault(ranks, failing, phase);
        std::string message = "none";
        try {
          static_cast<void>(write_suffix_array(ranks, text, folder.path("out")));
        } catch (const Error& error) {
          message = error.what();
        }
        EXPECT_EQ(message, "rank " + std::to_string(failing) + ": injected") << phase;
        EXPECT_EQ(folder.entries(), 2u) << phase;
      }
    }
  });
}

}  // namespace
}  // namespace sortie::cluster
