#include "core/base/author.h"

#include <new>

namespace draftlab {

std::string Author::who() const {
  return kind + " '" + name + "'" + (plugin.empty() ? "" : " (" + plugin + ")");
}

void Author::fail(const std::string& sentence) const {
  if (plugin.empty()) throw Fault("{} {}", who(), sentence);
  throw PartFault("{} {}", who(), sentence);
}

void rethrow_in_name_of(const Author& author) {
  if (author.plugin.empty()) throw;
  try {
    throw;
  } catch (const Fault& fault) {
    throw PartFault("{}: {}", author.who(), fault.what());
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {  // Memory that does not suffice is nobody's fault.
    throw;
  } catch (const std::exception& error) {
    throw PartFault("{} failed: {}", author.who(), error.what());
  } catch (...) {
    throw PartFault("{} failed: it threw something that is no exception", author.who());
  }
}

}  // namespace draftlab
