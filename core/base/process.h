// Gives processes names that no two share, on any machine and at any time.
#pragma once

#include <string>

namespace draftlab {

std::string host_name();

// Returns host, boot, process namespace, process and its start: no two processes share all of
// these, and a process in the same place can tell whether that process lives.
std::string process_identity();

// Says whether the process is known to be gone; false where that cannot be known from here.
bool is_gone(const std::string& identity);

// The same name in few characters, all of which a file's name may hold.
std::string process_tag();
bool tag_is_gone(const std::string& tag);

}  // namespace draftlab
