#include "core/base/npy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/base/files.h"

namespace draftlab {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kLongestHeader = 1 << 16;

// Returns what stands after 'key': in the header, which is a Python dictionary, and "" where the
// key is missing.
std::string entry(const std::string& header, const std::string& key) {
  const std::size_t at = header.find("'" + key + "':");
  if (at == std::string::npos) return {};
  const std::size_t begin = header.find_first_not_of(' ', at + key.size() + 3);
  if (begin == std::string::npos) return {};
  const char close = header[begin] == '(' ? ')' : header[begin] == '\'' ? '\'' : ',';
  const std::size_t end = header.find(close, begin + 1);
  return end == std::string::npos ? std::string()
                                  : header.substr(begin, end - begin + (close == ',' ? 0 : 1));
}

// Reads "(3, 4)" as {3, 4}. Returns false where the text is not a shape.
bool read_shape(const std::string& text, std::vector<std::int64_t>& shape) {
  if (text.size() < 2 || text.front() != '(') return false;
  for (std::size_t at = 1; at + 1 < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size() - 1);
    std::string word = text.substr(at, end - at);
    std::erase(word, ' ');
    at = end + 1;
    if (word.empty() && at + 1 >= text.size()) break;  // This is the shape "(3,)".
    if (word.empty() || word.size() > 12 ||
        word.find_first_not_of("0123456789") != std::string::npos)
      return false;
    shape.push_back(std::stoll(word));
  }
  return true;
}

template <class Element>
void convert(const std::vector<char>& bytes, std::vector<float>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    Element element;
    std::memcpy(&element, bytes.data() + i * sizeof element, sizeof element);
    values[i] = static_cast<float>(element);
  }
}

struct Element {
  const char* name;
  std::size_t size;
  void (*convert)(const std::vector<char>&, std::vector<float>&);
};
constexpr std::array<Element, 6> kElements{{{"'<f4'", 4, convert<float>},
                                            {"'<f8'", 8, convert<double>},
                                            {"'<i4'", 4, convert<std::int32_t>},
                                            {"'<i8'", 8, convert<std::int64_t>},
                                            {"'|u1'", 1, convert<std::uint8_t>},
                                            {"'|b1'", 1, convert<std::uint8_t>}}};

std::string read_header(std::ifstream& in, const std::string& path) {
  std::array<char, 12> head{};
  const auto damaged = [&] { return DataError("'{}' is no .npy file", path); };
  if (!in.read(head.data(), 8) || std::string_view(head.data(), 6) != kMagic) throw damaged();
  // The version of the format says how many bytes the header's length takes.
  const int width = head[6] == 1 ? 2 : 4;
  if (!in.read(head.data() + 8, width)) throw damaged();
  std::size_t length = 0;
  for (int i = 0; i < width; ++i)
    length |=
        static_cast<std::size_t>(static_cast<unsigned char>(head[static_cast<std::size_t>(8 + i)]))
        << (8 * i);
  if (length > kLongestHeader) throw damaged();
  std::string header(length, '\0');
  if (!in.read(header.data(), static_cast<std::streamsize>(length))) throw damaged();
  return header;
}

}  // namespace

NpyArray read_npy(const std::string& path, std::int64_t rows) {
  std::ifstream in;
  // A pipe is not waited for.
  if (std::filesystem::is_regular_file(path)) in.open(path, std::ios::binary);
  if (!in.is_open()) throw DataError("there is no file '{}'", path);
  const std::string header = read_header(in, path), type = entry(header, "descr");
  const auto element = std::find_if(kElements.begin(), kElements.end(),
                                    [&](const Element& known) { return type == known.name; });
  if (element == kElements.end())
    throw DataError("'{}' holds elements of type {}, which must be <f4, <f8, <i4, <i8 or |u1", path,
                    type);
  if (entry(header, "fortran_order") != "False")
    throw DataError("'{}' is stored in Fortran's order; save numpy.ascontiguousarray of it", path);
  NpyArray array;
  std::uint64_t count = 1, bytes = 0;
  if (!read_shape(entry(header, "shape"), array.shape))
    throw DataError("'{}' has no shape in its header", path);
  if (!array.shape.empty()) array.shape[0] = std::min(array.shape[0], rows);
  for (const std::int64_t size : array.shape)
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(size), &count))
      throw DataError("'{}' claims more values than can be", path);
  const std::streampos begin = in.tellg();
  const auto left = static_cast<std::uint64_t>(in.seekg(0, std::ios::end).tellg() - begin);
  if (__builtin_mul_overflow(count, element->size, &bytes) || bytes > left)
    throw DataError("'{}' is shorter than its shape {} says", path, entry(header, "shape"));
  std::vector<char> raw(bytes);
  in.seekg(begin).read(raw.data(), static_cast<std::streamsize>(bytes));
  if (!in) throw DataError("cannot read '{}'", path);
  array.values.resize(count);
  element->convert(raw, array.values);
  return array;
}

void write_npy(const std::string& path, const std::vector<std::int64_t>& shape,
               std::span<const float> values) {
  std::string sizes;
  std::size_t count = 1;
  for (const std::int64_t size : shape) {
    sizes += std::to_string(size) + ",";
    count *= static_cast<std::size_t>(size);
  }
  if (count != values.size())
    throw Fault("an array of shape ({}) does not hold {} values", sizes, values.size());
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + sizes + "), }";
  // The header is padded so that the data begins at a multiple of 64.
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string file(kMagic);
  file +=
      {'\1', '\0', static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  file += header;
  file.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  write_whole(path, file);
}

}  // namespace draftlab
