# SPDX-License-Identifier: Apache-2.0
#
# What the tests of the program on ranks share. Sourced by bash.

set -euo pipefail

# Works in an empty folder, $folder, which is removed at the end.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# Ends the test with a line that says what is wrong, and what is in the file `messages` if there is one.
fail() {
  echo "$(basename "$0"): $1" >&2
  [[ ! -f messages ]] || cat messages >&2
  exit 1
}

# A general matrix with so many rows and columns, and so many lines of entries, some of them twice.
generate_matrix() { # ROWS ENTRIES
  awk -v rows="$1" -v entries="$2" 'BEGIN {
    print "%%MatrixMarket matrix coordinate real general\n" rows, rows, entries
    for (i = 0; i < entries; ++i) {
      n = (n * 1103515245 + 12345) % 2147483648
      print int(n / 65536) % rows + 1, (i * 7919) % rows + 1, i / 7 - 100
    }
  }'
}
