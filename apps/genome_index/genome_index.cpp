// SPDX-License-Identifier: Apache-2.0
#include "sortie/genome_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>

#include "apps/genome_index/formats.hpp"
#include "core/files/byte_source.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/error.hpp"

namespace sortie::genomes {
namespace {

constexpr std::array<std::string_view, 2> bwa_names = {"bwa", "bwa-mem2"};

constexpr std::array<std::string_view, 2> fm_names = {"bowtie2", "hisat2"};
constexpr std::array<std::string_view, 1> star_names = {"star"};

constexpr std::array families = {
    IndexFamily{bwa_names, plan_bwa_indexes, write_bwa_indexes},
    IndexFamily{fm_names, plan_fm_indexes, write_fm_indexes},
    IndexFamily{star_names, plan_star_index, write_star_index},
};

void require_annotation(const GenomeIndexOptions& options) {
  const StarAnnotationOptions& annotation = options.star_annotation;
  if (annotation.gtf.empty()) return;
  const auto fail = [](const std::string& found, const std::string& expected) {
    throw Error(ErrorKind::usage, fmt::format("index: found {}, expected {}", found, expected));
  };
  if (std::ranges::find(options.formats, "star") == options.formats.end())
    fail("a GTF without format star", "star, the format that has junctions");
  if (annotation.gtf == "-") fail("standard input as GTF", "a file or a pipe with a name");
  // STAR compares at most 10,000 letters of a junction.
  if (annotation.overhang < 1 || annotation.overhang > 4999)
    fail(fmt::format("an overhang of {}", annotation.overhang), "1 to 4999");
  const auto require_word = [&](const std::string& word, std::string_view what) {
    if (word.empty() || word.find_first_of(" \t\n\v\f\r;=\"") != std::string::npos)
      fail(fmt::format("{} {}", what, sortie::quoted(word)), "a word");
  };
  require_word(annotation.exon_feature, "the feature");
  require_word(annotation.transcript_tag, "the attribute");
  require_word(annotation.gene_tag, "the attribute");
  if (!annotation.record_prefix.empty()) require_word(annotation.record_prefix, "the prefix");
}

void require_options(const GenomeIndexOptions& options) {
  const std::vector<std::string_view> known = format_names();
  const auto fail = [](const std::string& found, const std::string& expected) {
    throw Error(ErrorKind::usage, fmt::format("index: found {}, expected {}", found, expected));
  };
  if (options.formats.empty()) fail("no format", fmt::format("{}", fmt::join(known, ", ")));
  for (const std::string& format : options.formats) {
    if (std::ranges::find(known, format) == known.end())
      fail(fmt::format("format {}", sortie::quoted(format)),
           fmt::format("{}", fmt::join(known, ", ")));
    if (std::ranges::count(options.formats, format) > 1)
      fail(fmt::format("format {} twice", sortie::quoted(format)), "each format once");
  }
  if (options.prefix.empty() || options.prefix.back() == '/')
    fail(fmt::format("prefix {}", sortie::quoted(options.prefix)),
         "the begin of the names of files");
  require_annotation(options);
}

/// Progress of several families, each of which has phases of the same names.
Context named(const Context& context, const IndexFamily& family) {
  Context with_name = context;
  if (context.progress) {
    with_name.progress = [&context, &family](std::string_view phase, std::uint64_t done,
                                             std::uint64_t total) {
      context.progress(fmt::format("{}: {}", family.formats.front(), phase), done, total);
    };
  }
  return with_name;
}

ByteBuffer read_gtf(const Context& context, const GenomeIndexOptions& options) {
  const std::string& path = options.star_annotation.gtf;
  if (path.empty()) return {};
  const HostContext host = on_host(context);
  return read_all(path, HostMemoryBudget(host).left(), threads_of(host));
}

/// Plans, and then writes or compares if there are outputs.
GenomeIndexPlan run(const Context& given, const std::string& fasta,
                    const GenomeIndexOptions& options, IndexOutputs* outputs) {
  require_options(options);
  start_host_runtime(given.threads);
  const GenomeText genome(on_host(given), fasta);
  if (options.await_device) options.await_device();
  const ByteBuffer gtf = read_gtf(less_memory(given, genome.bytes()), options);
  const Context context = less_memory(given, genome.bytes() + gtf.size);
  IndexRequest request{genome, options, fasta, {gtf.data.get(), gtf.size}, false, {}};
  GenomeIndexPlan plan;
  plan.records = genome.records().size();
  const auto is_wanted = [&](const IndexFamily& family) {
    return std::ranges::any_of(family.formats,
                               [&](std::string_view format) { return request.wants(format); });
  };
  auto wanted = std::ranges::count_if(families, is_wanted);
  request.is_last = wanted == 1;
  try {
    PhaseTimer planning(context, "plan");
    for (const IndexFamily& family : families)
      if (is_wanted(family)) family.plan(context, request, plan);
    planning.stop();
    plan.memory += genome.bytes() + gtf.size;
    if (outputs == nullptr) return plan;
    for (const IndexFamily& family : families) {
      if (!is_wanted(family)) continue;
      request.is_last = --wanted == 0;
      family.write(named(context, family), request, *outputs);
    }
  } catch (const std::bad_alloc&) {
    throw Error(
        ErrorKind::out_of_memory,
        fmt::format("index: host memory ran out, about {} are needed", format_bytes(plan.memory)));
  }
  const PhaseTimer renaming(context, "rename");
  outputs->finish();
  plan.files = outputs->sizes();
  return plan;
}

}  // namespace

HostContext on_host(const Context& context) {
  HostContext host = context;
  // Without a budget, this need not wait for a device that starts.
  if (host.memory_budget != 0 && resolve_backend(context) == Backend::cuda) host.memory_budget = 0;
  return host;
}

Context less_memory(const Context& context, std::uint64_t bytes) {
  Context less = context;
  const HostContext host = on_host(context);
  if (host.memory_budget == 0) return less;
  HostMemoryBudget budget(host);
  budget.hold(bytes);
  less.memory_budget = std::max<std::uint64_t>(budget.left(), 1);
  return less;
}

Context without_genome(const Context& context, const IndexRequest& request) {
  Context more = context;
  if (request.is_last && on_host(context).memory_budget != 0)
    more.memory_budget += request.genome.bytes();
  return more;
}

std::vector<std::string_view> format_names() {
  std::vector<std::string_view> names;
  for (const IndexFamily& family : families)
    names.insert(names.end(), family.formats.begin(), family.formats.end());
  std::ranges::sort(names);
  return names;
}

GenomeIndexPlan plan_genome_index(const Context& context, const std::string& fasta,
                                  const GenomeIndexOptions& options) {
  return run(context, fasta, options, nullptr);
}

GenomeIndexPlan write_genome_index(const Context& context, const std::string& fasta,
                                   const GenomeIndexOptions& options) {
  IndexOutputs outputs(options, false);
  return run(context, fasta, options, &outputs);
}

GenomeIndexPlan check_genome_index(const Context& context, const std::string& fasta,
                                   const GenomeIndexOptions& options) {
  IndexOutputs outputs(options, true);
  return run(context, fasta, options, &outputs);
}

}  // namespace sortie::genomes
