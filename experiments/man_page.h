// The man page: every command with its flags, from the declarations that --help prints.
#pragma once

#include <iosfwd>

namespace draftlab {

void print_man_page(std::ostream& out);

}  // namespace draftlab
