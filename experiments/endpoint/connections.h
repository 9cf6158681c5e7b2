// The HTTP side of an endpoint: it reads requests, lets them be decoded, and writes replies.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "experiments/endpoint/decoding.h"

namespace draftlab {

struct ConnectionOptions {
  std::string host = "127.0.0.1";
  std::int64_t port = 8000;
  // What a client must show ("Authorization: Bearer TOKEN"); "" asks for nothing.
  std::string token;
  // Pages of this origin may ask, too ("*": any); "" lets no page of a browser ask.
  std::string origin;
  std::string model;
  Limits limits;
  std::int64_t body = 1 << 20, together = 128;
};

// Threads of its own hold the connections.
class Connections {
 public:
  // `decoding` outlives this. Throws OutputError where the address cannot be listened at.
  Connections(ConnectionOptions options, Decoding& decoding);
  ~Connections();
  int port() const { return port_; }
  // Takes no connection any more, and waits until those that are open have their replies.
  void close();

 private:
  class Server;
  std::unique_ptr<Server> server_;
  int port_ = 0;
};

// Says whether only this machine can reach an address.
bool is_loopback(const std::string& host);

}  // namespace draftlab
