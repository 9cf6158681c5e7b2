#include "experiments/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace draftlab {
namespace {

// Of a terminal that does not say how large it is.
constexpr std::size_t kUsualColumns = 80, kUsualRows = 24;

}  // namespace

std::size_t terminal_columns() {
  if (isatty(STDOUT_FILENO) == 0) return 0;
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsualColumns;
}

std::size_t terminal_rows() {
  if (isatty(STDOUT_FILENO) == 0) return 0;
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return known ? size.ws_row : kUsualRows;
}

bool terminal_has_colours() {
  const char* const kind = std::getenv("TERM");
  const char* const none = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && kind && std::string_view(kind) != "dumb" &&
         (!none || *none == '\0');
}

}  // namespace draftlab
