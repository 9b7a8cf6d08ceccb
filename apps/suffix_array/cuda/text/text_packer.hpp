// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "apps/suffix_array/cuda/text/pack.hpp"
#include "apps/suffix_array/part_builder.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie::suffix_array::cuda {

/// A TextPreparation on the context's device, for texts without rare letters: those that are sorted
/// in ranges. Phases "copy in" and "pack".
class DeviceTextPacker : public TextPreparation {
 public:
  /// \param symbols  of the text
  DeviceTextPacker(const DeviceContext& context, std::uint64_t symbols, const TextPart& part)
      : context_(context), part_(part), symbols_(symbols) {}

  /// Copies the part and its separators. \throws Error (out_of_memory, device)
  void copy(const TextView& text);
  /// The same for half a text, codes 0 to 3, which its reverse complement follows: this half is
  /// written by the device. \pre the part is all of the text \throws Error (out_of_memory, device)
  void copy_mirrored(std::span<const std::uint8_t> half);

  [[nodiscard]] LetterSet find_letters() override;
  void pack(const LetterSet& letters) override;
  [[nodiscard]] std::span<std::byte> packed_part(std::uint64_t number) override;

  [[nodiscard]] std::uint64_t symbols() const { return symbols_; }
  [[nodiscard]] const PackedText& packed() const { return packed_; }
  [[nodiscard]] PackedText take_packed() { return std::move(packed_); }
  [[nodiscard]] const DeviceContext& context() const { return context_; }
  [[nodiscard]] const TextPart& text_part() const { return part_; }

 private:
  /// The first block of a part.
  [[nodiscard]] std::uint64_t first_block(std::uint64_t number) const;

  DeviceContext context_;
  TextPart part_;
  std::uint64_t symbols_;  ///< of the text
  DeviceBuffer<std::uint8_t> copied_;
  MarkedText marked_{};
  PackedText packed_;
};

}  // namespace sortie::suffix_array::cuda
