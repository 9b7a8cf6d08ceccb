// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "sortie/corpus.hpp"
#include "tests/support/compressed.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/zstd_frame.hpp"

namespace sortie::texts::test {

using sortie::test::TemporaryFolder;

/// The content as it is stored.
inline std::string packed(std::string_view content, Compression compression) {
  if (compression == Compression::gzip) return sortie::test::gzip(content);
  if (compression == Compression::zstd) return sortie::test::zstd(content);
  return std::string(content);
}

inline std::string_view ending(Compression compression) {
  if (compression == Compression::gzip) return ".gz";
  return compression == Compression::zstd ? ".zst" : "";
}

/// Text of all characters, the special ones of JSON more often.
inline std::string random_text(std::mt19937& random, std::size_t most_characters) {
  constexpr std::string_view special("\0\b\f\n\r\t\"\\/{}[],:\x7f ", 18);
  std::string text;
  for (std::size_t left = random() % (most_characters + 1); left > 0; --left) {
    switch (random() % 8) {
      case 0:
        text += special[random() % special.size()];
        break;
      case 1:
        text += static_cast<char>(random() % 128);
        break;
      case 2:
        text += {static_cast<char>(0xc2 + random() % 30), static_cast<char>(0x80 + random() % 64)};
        break;
      case 3:
        text += {static_cast<char>(0xe1 + random() % 12), static_cast<char>(0x80 + random() % 64),
                 static_cast<char>(0x80 + random() % 64)};
        break;
      case 4:
        text += {static_cast<char>(0xf1 + random() % 3), static_cast<char>(0x80 + random() % 64),
                 static_cast<char>(0x80 + random() % 64), static_cast<char>(0x80 + random() % 64)};
        break;
      default:
        text += static_cast<char>('a' + random() % 3);
    }
  }
  return text;
}

/// A file of a random corpus, and what it says.
struct RandomFile {
  std::string path;
  Compression compression = Compression::none;
  bool is_jsonl = true;
  std::string content;
  std::vector<std::string> documents;
  std::vector<std::uint64_t> lines;
};

inline RandomFile random_file(std::mt19937& random, const TemporaryFolder& folder, int number) {
  RandomFile file;
  file.compression = static_cast<Compression>(random() % 3);
  file.is_jsonl = random() % 4 != 0;
  if (!file.is_jsonl) {
    file.content = random_text(random, 300);
    if (random() % 2 == 0) file.content += static_cast<char>(random() % 256);
    if (file.content.starts_with('{')) file.content[0] = 'x';
    file.documents = {file.content};
    file.lines = {0};
  }
  std::uint64_t line = 0;
  for (std::size_t left = file.is_jsonl ? random() % 8 : 0; left > 0; --left) {
    ++line;
    if (random() % 8 == 0) {
      file.content += random() % 2 == 0 ? " \n" : "\r\n";
      continue;
    }
    nlohmann::ordered_json object;
    if (random() % 2 == 0) object[random_text(random, 3)] = random_text(random, 5);
    if (random() % 2 == 0) object["nested"] = {{"text", random_text(random, 5)}, {"n", {1, 2.5}}};
    if (object.contains("text")) object.erase("text");
    file.documents.push_back(random_text(random, random() % 16 == 0 ? 400 : 40));
    file.lines.push_back(line);
    object["text"] = file.documents.back();
    if (random() % 2 == 0) object["more"] = nullptr;
    // Indented by nothing, JSON has no line ends; with or without \u escapes.
    file.content += object.dump(-1, ' ', random() % 2 == 0);
    if (left > 1 || random() % 2 == 0) file.content += random() % 4 == 0 ? "\r\n" : "\n";
  }
  const std::string name = (file.is_jsonl ? "f" + std::to_string(number) + ".jsonl"
                                          : "f" + std::to_string(number) + ".txt") +
                           std::string(ending(file.compression));
  file.path = folder.write(name, packed(file.content, file.compression));
  return file;
}

inline std::vector<RandomFile> random_files(std::mt19937& random, const TemporaryFolder& folder,
                                            std::size_t count) {
  std::vector<RandomFile> files;
  for (std::size_t i = 0; i < count; ++i)
    files.push_back(random_file(random, folder, static_cast<int>(i)));
  return files;
}

inline std::vector<std::string> paths_of(const std::vector<RandomFile>& files) {
  std::vector<std::string> paths;
  for (const RandomFile& file : files) paths.push_back(file.path);
  return paths;
}

/// What a corpus of these files has to be.
struct ExpectedCorpus {
  explicit ExpectedCorpus(const std::vector<RandomFile>& files) {
    for (const RandomFile& file : files) {
      for (const std::string& document : file.documents) {
        text += document;
        begins.push_back(text.size());
      }
      lines.insert(lines.end(), file.lines.begin(), file.lines.end());
    }
  }

  std::string text;
  std::vector<std::uint64_t> begins = {0};
  std::vector<std::uint64_t> lines;
};

inline std::string text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Options that divide small files into many blocks.
inline CorpusOptions small_blocks(std::mt19937& random) {
  CorpusOptions options;
  options.block_bytes = 64 + random() % 300;
  options.split_documents = random() % 2 == 0;
  return options;
}

/// A context with threads.
inline HostContext with_threads(int threads) {
  HostContext context;
  context.threads = threads;
  return context;
}

}  // namespace sortie::texts::test
