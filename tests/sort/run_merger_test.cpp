// SPDX-License-Identifier: Apache-2.0

// Merges of spilled runs by any number of workers, with slots and blocks of any size.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "apps/sort/run_merger.hpp"
#include "core/random.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

using Value = Opaque<std::uint32_t>;
using Storage = ItemStorage<std::uint32_t, Value>;
using Merger = sorting::RunMerger<std::uint32_t, Value>;

struct [[gnu::packed]] Record {
  std::uint32_t key;
  std::uint32_t value;
};

std::string bytes_of(const std::vector<Record>& records) {
  std::string bytes(records.size() * sizeof(Record), '\0');
  if (!records.empty()) std::memcpy(bytes.data(), records.data(), bytes.size());
  return bytes;
}

void sort_by_key(std::vector<Record>& records) {
  std::stable_sort(records.begin(), records.end(),
                   [](const Record& a, const Record& b) { return a.key < b.key; });
}

/// Runs in a file, and one in memory.
class RunMergerTest : public testing::Test {
 protected:
  /// \param key  makes the key of a record from its run and its place in the source
  template <class MakeKey>
  void make_runs(const std::vector<std::uint64_t>& sizes, std::uint64_t last, MakeKey key) {
    runs_.clear();
    all_.clear();
    for (std::size_t r = 0; r <= sizes.size(); ++r) {
      std::vector<Record> run;
      const std::uint64_t size = r == sizes.size() ? last : sizes[r];
      for (std::uint64_t i = 0; i < size; ++i)
        run.push_back({key(r, i), static_cast<std::uint32_t>(all_.size() + i)});
      sort_by_key(run);
      if (r == sizes.size()) {
        last_ = run;
      } else {
        file_.write(all_.size() * sizeof(Record), bytes_of(run));
        runs_.push_back({all_.size(), size});
      }
      all_.insert(all_.end(), run.begin(), run.end());
    }
  }

  [[nodiscard]] std::string merged(std::uint64_t workers, std::uint64_t slot_items,
                                   std::uint64_t block_items, bool in_order) {
    const Context context;
    const Storage slots(context, std::max<std::uint64_t>(1, 2 * runs_.size() * slot_items),
                        "slots");
    const Storage blocks(context, workers * block_items, "blocks");
    const Storage memory(context, last_.size() + 1, "the last run");
    for (std::size_t i = 0; i < last_.size(); ++i) {
      memory.items().keys[i] = last_[i].key;
      memory.items().values[i].word = last_[i].value;
    }
    const sorting::RecordBlocks<std::uint32_t, Value> records(2 * workers, block_items);
    std::string result(all_.size() * sizeof(Record), '\0');
    std::uint64_t end = 0;
    sorting::MergeOutput output;
    output.in_order = in_order;
    output.write = [&](std::uint64_t offset, std::span<const char> bytes) {
      if (in_order) {
        EXPECT_EQ(offset, end);
        end = offset + bytes.size();
      }
      std::copy(bytes.begin(), bytes.end(), result.begin() + static_cast<std::ptrdiff_t>(offset));
    };
    sorting::OrderCheck<std::uint32_t, Value> check;
    sorting::Fingerprint read;
    for (Record& record : all_) {
      Value value{record.value};
      std::uint32_t key = record.key;
      read.add(Items<std::uint32_t, Value>{&key, &value}, 1);
    }
    std::uint64_t told = 0;
    Merger(context, file_, runs_, {memory.items(), last_.size()},
           {slots.items(), slot_items, blocks.items(), workers, records},
           KeyCodec<std::uint32_t>(KeyKind::unsigned_integer, Order::ascending))
        .run(output, &check, [&](std::uint64_t done) {
          EXPECT_GT(done, told);
          told = done;
        });
    EXPECT_EQ(told, all_.size());
    EXPECT_NO_THROW(check.finish(read, all_.size()));
    return result;
  }

  [[nodiscard]] std::string expected() const {
    std::vector<Record> records = all_;
    sort_by_key(records);
    return bytes_of(records);
  }

  TemporaryFolder folder_;
  sorting::SpillFile file_{folder_.path("")};
  std::vector<sorting::SpilledRun> runs_;
  std::vector<Record> last_;
  std::vector<Record> all_;
};

TEST_F(RunMergerTest, MergesStablyWithAnyWorkersSlotsAndBlocks) {
  const auto random = [](std::uint32_t values) {
    return [values](std::size_t r, std::uint64_t i) {
      return static_cast<std::uint32_t>(Random(r, i).next() % values);
    };
  };
  for (const std::uint64_t workers : {1, 2, 3, 4}) {
    for (const std::uint64_t slot_items : {1, 7, 100, 5000}) {
      for (const std::uint64_t block_items : {1, 10, 1000}) {
        if (slot_items * block_items == 1 && workers > 1) continue;  // a thread for each item
        SCOPED_TRACE(testing::Message() << workers << " workers, slots of " << slot_items
                                        << ", blocks of " << block_items);
        for (const bool in_order : {false, true}) {
          // The merge discards the runs of the file, so each needs them anew.
          make_runs({300, 200, 1, 0, 250}, 120, random(1 << 30));
          EXPECT_TRUE(merged(workers, slot_items, block_items, in_order) == expected());
          make_runs({300, 200}, 0, random(5));
          EXPECT_TRUE(merged(workers, slot_items, block_items, in_order) == expected());
        }
      }
    }
  }
}

TEST_F(RunMergerTest, MergesRunsThatDoNotOverlap) {
  for (const bool descending : {false, true}) {
    make_runs({500, 500, 500}, 500, [&](std::size_t r, std::uint64_t i) {
      return static_cast<std::uint32_t>((descending ? 10 - r : r) * 1000 + i);
    });
    EXPECT_TRUE(merged(2, 40, 16, false) == expected());
  }
}

TEST_F(RunMergerTest, MergesTheRunInMemoryAlone) {
  make_runs({}, 1000, [](std::size_t, std::uint64_t i) { return static_cast<std::uint32_t>(i); });
  EXPECT_TRUE(merged(3, 1, 64, false) == expected());
  make_runs({}, 0, [](std::size_t, std::uint64_t) { return 0U; });
  EXPECT_EQ(merged(3, 1, 64, false), "");
}

TEST_F(RunMergerTest, FailsWhereTheFileEndsEarly) {
  make_runs({100, 100}, 0,
            [](std::size_t, std::uint64_t i) { return static_cast<std::uint32_t>(i); });
  runs_.back().records = 150;
  expect_error([&] { static_cast<void>(merged(2, 20, 8, false)); }, ErrorKind::input,
               testing::HasSubstr("temporary file cannot be read: it ends too early"));
}

}  // namespace
}  // namespace sortie::test
