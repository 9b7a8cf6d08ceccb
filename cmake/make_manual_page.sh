#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# make_manual_page.sh HELP2MAN PROGRAM VERSION PAGE OUTPUT [PAGES ...]
# Writes OUTPUT.gz, the manual page PAGE ("sortie" or "sortie-SUBCOMMAND"), from the help of the program. It refers to
# the other PAGES.
set -euo pipefail
help2man=$1 program=$2 version=$3 page=$4 output=$5
shift 5
subcommand=()
if [[ $page == sortie-* ]]; then subcommand=("${page#sortie-}"); fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The help of CLI11 in the form that help2man reads: "-o, --output TEXT", and what CLI11 shows of the type of a value
# moved to its description. An entry is "  NAME", padded to 30 columns, and its description, which is on a line of its
# own if NAME is longer.
"$program" "${subcommand[@]}" --help >"$work/help"
first_line=$(head -n 1 "$work/help")
awk '
  # Whether the description names all of the values, which are separated by ", ".
  function names_all(values,  count, i, each) {
    count = split(values, each, ", ")
    for (i = 1; i <= count; ++i) if (index(text, each[i]) == 0) return 0
    return 1
  }
  function flush_entry(  constraints, value, list) {
    if (name == "") return
    if (text == "") { text = substr(name, 31); name = substr(name, 1, 30) }
    sub(/^ +/, "", name)
    sub(/ +$/, "", name)
    if (match(name, / (Excludes|Needs): .*/)) {
      constraints = tolower(substr(name, RSTART + 1))
      name = substr(name, 1, RSTART - 1)
      gsub(/: /, " ", constraints)
      gsub(/ --/, ", --", constraints)
      sub(/, /, " ", constraints)
    }
    if (sub(/ REQUIRED/, "", name) && !in_positionals) value = "required"
    if (match(name, /=[^=]*$/)) {  # TYPE=DEFAULT
      value = "default: " substr(name, RSTART + 1)
      name = substr(name, 1, RSTART - 1)
    }
    if (match(name, /:[{].*[}]/)) {  # TYPE:{a,b,c}
      list = substr(name, RSTART + 2, RLENGTH - 3)
      gsub(/,/, ", ", list)
      if (names_all(list)) list = ""
      name = substr(name, 1, RSTART - 1)
    }
    if (match(name, /:[A-Z]+ in \[.*\]/)) {  # TYPE:TYPE in [1 - 9]
      list = substr(name, RSTART, RLENGTH)
      sub(/.* in \[/, "from ", list)
      sub(/ - /, " to ", list)
      sub(/\]/, "", list)
      name = substr(name, 1, RSTART - 1)
    }
    sub(/:[A-Z]+/, "", name)  # TYPE:NONNEGATIVE
    if (in_positionals) sub(/ .*/, "", name)
    sub(/,--/, ", --", name)
    if (list != "" && value != "") list = list "; "
    if (list value != "") text = text " (" list value ")"
    if (constraints != "") text = text " (" constraints ")"
    printf "  %-28s  %s\n", name, text
    name = text = ""
  }
  /^[A-Z][A-Za-z ]*:$/ { flush_entry(); in_list = 1; in_positionals = /^Positionals/; print ""; print; next }
  /^Usage: / { print ""; print; next }
  in_list && /^$/ { flush_entry(); next }
  in_list && /^                              / { text = text (text == "" ? "" : " ") substr($0, 31); next }
  in_list && /^  / { flush_entry(); name = $0; next }
  in_list { flush_entry(); in_list = 0; print ""; print "Notes:" }
  { print }
  END { flush_entry() }
' "$work/help" >"$work/normalized"

# help2man runs a program for its text.
printf '#!/bin/sh\nexec cat "%s"\n' "$work/normalized" >"$work/show_help"
chmod +x "$work/show_help"
{
  printf '[EXIT STATUS]\n0: done. 1: failed; one line on standard error says why, and no output file is left. '
  printf '2: wrong usage. 3: a check did not hold.\n\n[SEE ALSO]\n'
  separator=
  for other in "$@"; do
    [[ $other != "$page" ]] || continue
    printf '%s\\fB%s\\fP(1)' "$separator" "${other//-/\\-}"
    separator=$', \n'
  done
  printf '\n'
} >"$work/sections"
summary=${first_line%%:*}
if [[ $page == sortie ]]; then summary="segmented sort, sparse matrix products, suffix arrays and array sort"; fi
"$help2man" --no-info --no-discard-stderr --section=1 --manual="User Commands" --source="Sortie $version" \
  --name="${summary,}" --version-string="$page $version" --include="$work/sections" --output="$work/page" "$work/show_help"
# help2man takes the subcommand for an argument, and the notes for a paragraph.
sed -e "s|^\\\\fI\\\\,${subcommand[0]-no subcommand} \\\\/\\\\fR|\\\\fB${subcommand[0]-}\\\\fR |" \
  -e '/^\.PP$/{N;s/^\.PP\nNotes:$/.SH NOTES/}' "$work/page" | gzip -9n >"$output.gz"
