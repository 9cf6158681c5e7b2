"""Builds many mutants into one program, each asleep until DRAFTLAB_MUTANT names its number.

A mutant that is built alone costs a build of every suite that looks at it. Here an expression
stands beside its broken form, `(draftlab_broken(7) ? (a <= b) : (a < b))`, and a statement that may
be dropped stands behind an `if`, so one build serves all mutants that do not lie within each other.
What a compiler needs to know (the label of a case, the size of an array, a constexpr function) does
not build like this, and such a mutant is built alone.
"""
import re

SWITCH = "build/switch.h"
# Where tests/reached.cc names the case that runs, a number is written once a case, and at once, as
# tests fork and are killed; a test that fills the disk loses some.
SWITCH_TEXT = """#pragma once
#include <fcntl.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
inline void draftlab_reached(const char* path, int number) {
  static int written[1 << 16];
  const char* const place = std::getenv("DRAFTLAB_MUTANTS_CASE");
  const int now = place ? std::atoi(place) : -1;
  if (written[number] == now) return;
  written[number] = now;
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  char line[32];
  const int length = std::snprintf(line, sizeof line, "%d %d\\n", now, number);
  [[maybe_unused]] const auto full = ::write(file, line, static_cast<std::size_t>(length));
  ::close(file);
}
inline bool draftlab_broken(int number) {
  static const char* const chosen = std::getenv("DRAFTLAB_MUTANT");
  static const int broken = chosen ? std::atoi(chosen) : 0;
  static const char* const path = std::getenv("DRAFTLAB_MUTANTS_REACHED");
  if (path) draftlab_reached(path, number);
  return number == broken;
}
"""
ERROR = re.compile(r"^(?:In file included from )?(\S+?\.cc):(\d+):\d*:? (?:fatal )?error", re.M)


def switched(text, site, replacement, number):
    """What stands for the whole of a site: itself, or where `number` is chosen its broken form."""
    begin, end = site.whole
    whole = text[begin:end].decode()
    if site.kind == "statement":
        return f"if (!draftlab_broken({number})) {whole}"
    broken = (text[begin : site.begin] + replacement.encode() + text[site.end : end]).decode()
    return f"(draftlab_broken({number}) ? ({broken}) : ({whole}))"


def rounds(mutants):
    """Lists of mutants that can be built together, the first as long as may be."""
    found = []
    for mutant in mutants:
        for together in found:
            if not any(overlap(mutant, other) for other in together):
                together.append(mutant)
                break
        else:
            found.append([mutant])
    return found


def overlap(one, other):
    return (
        one.file == other.file
        and one.site.whole[0] < other.site.whole[1]
        and other.site.whole[0] < one.site.whole[1]
    )


class File:
    """A source file with some of its mutants asleep in it."""

    def __init__(self, text, prefix, numbered):
        """`numbered`: pairs of a number and a mutant of this file."""
        parts, self.lines, at = [f'{prefix}#include "{SWITCH}"\n'], {}, 0
        for number, mutant in sorted(numbered, key=lambda pair: pair[1].site.whole):
            parts.append(text[at : mutant.site.whole[0]].decode())
            first = sum(part.count("\n") for part in parts) + 1
            parts.append(switched(text, mutant.site, mutant.replacement, number))
            self.lines[number] = range(first, first + parts[-1].count("\n") + 1)
            at = mutant.site.whole[1]
        parts.append(text[at:].decode())
        self.text = "".join(parts).encode()

    def blamed(self, lines):
        """The numbers of the mutants on lines with errors; all, where no line is a mutant's."""
        found = {number for number, own in self.lines.items() if any(line in own for line in lines)}
        return found or set(self.lines)


def lines_with_errors(said, checkout):
    """From a compiler's words: the lines of each file, by its path in the checkout."""
    found = {}
    for path, line in ERROR.findall(said):
        name = path.removeprefix(f"{checkout}/")
        found.setdefault(name, set()).add(int(line))
    return found
