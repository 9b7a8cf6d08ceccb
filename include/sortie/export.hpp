// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks what a shared libsortie.so exports; everything else in it is hidden.
#define SORTIE_API __attribute__((visibility("default")))
