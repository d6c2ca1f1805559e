#include "client/cpp/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "client/cpp/file.h"
#include "core/ir/shape_rules.h"

namespace uop {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
/// Data begins at a multiple of this, so that it can be mapped aligned (NumPy's ARRAY_ALIGN).
constexpr std::size_t kAlignment = 64;

struct Descr {
  DType dtype;
  std::string_view text;
};
constexpr Descr kDescrs[] = {{DType::kBool, "|b1"}, {DType::kI8, "|i1"},  {DType::kI16, "<i2"},  {DType::kI32, "<i4"},
                             {DType::kI64, "<i8"},  {DType::kU8, "|u1"},  {DType::kU16, "<u2"},  {DType::kU32, "<u4"},
                             {DType::kU64, "<u8"},  {DType::kF16, "<f2"}, {DType::kBF16, "<V2"}, {DType::kF32, "<f4"},
                             {DType::kF64, "<f8"}};

/// Reads a Python literal of the one form a header has: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}

  bool take(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  std::optional<std::string_view> quoted() {
    skip_space();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const std::size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::optional<std::int64_t> integer() {
    skip_space();
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (problem != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  std::optional<Shape> tuple() {
    if (!take("(")) return std::nullopt;
    Shape shape;
    while (!take(")")) {
      const auto size = integer();
      if (!size || (!take(",") && !rest_.starts_with(")"))) return std::nullopt;
      shape.push_back(*size);
    }
    return shape;
  }
  bool at_end() {
    skip_space();
    return rest_.empty();
  }

 private:
  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n\t"), rest_.size())); }
  std::string_view rest_;
};

struct Header {
  std::optional<std::string_view> descr;
  std::optional<bool> fortran;
  std::optional<Shape> shape;
};

std::optional<Header> parse_header(std::string_view text) {
  HeaderReader reader(text);
  Header header;
  if (!reader.take("{")) return std::nullopt;
  while (!reader.take("}")) {
    const auto key = reader.quoted();
    if (!key || !reader.take(":")) return std::nullopt;
    if (*key == "descr") {
      header.descr = reader.quoted();
      if (!header.descr) return std::nullopt;
    } else if (*key == "fortran_order") {
      if (reader.take("True"))
        header.fortran = true;
      else if (reader.take("False"))
        header.fortran = false;
      else
        return std::nullopt;
    } else if (*key == "shape") {
      header.shape = reader.tuple();
      if (!header.shape) return std::nullopt;
    } else {
      return std::nullopt;
    }
    reader.take(",");
  }
  if (!reader.at_end() || !header.descr || !header.fortran || !header.shape) return std::nullopt;
  return header;
}

StatusOr<DType> dtype_of_descr(std::string_view descr) {
  // '|' and '<' mean the same for one byte, '=' is this machine's order, which is little-endian.
  const std::string_view kind = descr.empty() ? descr : descr.substr(1);
  for (const Descr& known : kDescrs)
    if (known.text.substr(1) == kind && (std::string_view("|<=").find(descr[0]) != std::string_view::npos))
      return known.dtype;
  if (descr.starts_with(">"))
    return invalid_argument("it is big-endian ('{}'); save it with a.astype(a.dtype.newbyteorder('<'))", descr);
  return invalid_argument("its type '{}' is none of b1, i1..i8, u1..u8, f2, f4, f8, V2 (bf16); convert it with astype",
                          descr);
}

/// Bytes of an array of the shape; nothing where it is not a shape or too big.
std::optional<std::uint64_t> byte_count(DType dtype, const Shape& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) {
    if (size < 0 || size > kMaxElements || (size > 0 && elements > kMaxElements / size)) return std::nullopt;
    elements *= size;
  }
  return static_cast<std::uint64_t>(elements * byte_size(dtype));
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

StatusOr<NpyArray> parse_npy(std::string_view content) {
  if (!content.starts_with(kMagic) || content.size() < kMagic.size() + 4)
    return invalid_argument("it does not begin as a .npy file does; write it with numpy.save");
  const int version = static_cast<unsigned char>(content[kMagic.size()]);
  if (version < 1 || version > 3)
    return invalid_argument("its format version is {}; 1, 2 and 3 are known, save it with a newer NumPy", version);
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t header_at = kMagic.size() + 2 + length_bytes;
  if (content.size() < header_at) return invalid_argument("it ends within its header; copy it again");
  const std::uint64_t length = little_endian(content.substr(kMagic.size() + 2, length_bytes));
  if (length > content.size() - header_at)
    return invalid_argument("its header of {} bytes is longer than the file; copy it again", length);

  const auto header = parse_header(content.substr(header_at, length));
  if (!header) return invalid_argument("its header is not the dictionary of descr, fortran_order and shape it must be");
  if (*header->fortran)
    return invalid_argument("it is in Fortran order; save it with numpy.save(path, numpy.ascontiguousarray(a))");
  StatusOr<DType> dtype = dtype_of_descr(*header->descr);
  if (!dtype.ok()) return dtype.status();
  if (header->shape->size() > kMaxRank)
    return invalid_argument("it has {} axes; at most {} are possible, reshape it", header->shape->size(), kMaxRank);
  const auto bytes = byte_count(*dtype, *header->shape);
  const std::string_view data = content.substr(header_at + length);
  if (!bytes || *bytes != data.size())
    return invalid_argument("its header says {}, but {} bytes follow; it is cut or damaged, save it again",
                            type_text(*dtype, *header->shape), data.size());

  NpyArray array{*dtype, *header->shape, std::vector<std::byte>(data.size())};
  if (!data.empty()) std::memcpy(array.bytes.data(), data.data(), data.size());
  return array;
}

std::string format_npy(const NpyArray& array) {
  const auto descr =
      std::find_if(std::begin(kDescrs), std::end(kDescrs), [&](const Descr& d) { return d.dtype == array.dtype; });
  check(descr != std::end(kDescrs), "an array has a dtype");
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr->text,
                                   fmt::join(array.shape, ", "), array.shape.size() == 1 ? "," : "");
  const std::size_t before = kMagic.size() + 4;
  header.append((kAlignment - (before + header.size() + 1) % kAlignment) % kAlignment, ' ');
  header += '\n';
  std::string content(kMagic);
  content += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  content += header;
  content.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return content;
}

StatusOr<NpyArray> read_npy(const std::string& path) {
  StatusOr<std::string> content = read_file(path);
  if (!content.ok()) return content.status();
  StatusOr<NpyArray> array = parse_npy(*content);
  if (!array.ok()) return Status(array.status().code(), fmt::format("{}: {}", path, message(array.status())));
  return array;
}

Status write_npy(const std::string& path, const NpyArray& array) {
  return write_file(path, format_npy(array));
}

}  // namespace uop
