// Names of processes that no two share, on any machine and at any time.
#pragma once

#include <string>

namespace draftlab {

std::string host_name();

// Host, boot, process namespace, process and its start: no two processes share it, and whoever runs
// in the same place can tell whether that process lives.
std::string process_identity();

// Whether the process is known to be gone; false where it cannot be known from here.
bool is_gone(const std::string& identity);

// The same in few characters, all of which a file's name may hold.
std::string process_tag();
bool tag_is_gone(const std::string& tag);

}  // namespace draftlab
