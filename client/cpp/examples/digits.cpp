#include "client/cpp/examples/digits.h"

#include <limits>

#include "client/cpp/algorithms.h"
#include "client/cpp/npy.h"
#include "client/cpp/operators.h"

namespace uop {
namespace {

constexpr std::int64_t kReferences = 1200;

struct Digits {
  NpyArray images;
  NpyArray labels;
  std::int64_t count = 0;
  std::int64_t pixels = 0;
};

Digits read_digits(const std::string& directory) {
  Digits digits{value_or_throw(read_npy(directory + "/images.npy")),
                value_or_throw(read_npy(directory + "/labels.npy"))};
  if (digits.images.dtype != DType::kU8 || digits.images.shape.size() != 3 || digits.labels.dtype != DType::kI32 ||
      digits.labels.shape != Shape{digits.images.shape[0]} || digits.images.shape[0] <= kReferences)
    throw_invalid("{} does not hold u8 images (n,8,8) and i32 labels (n) of more than {} digits", directory,
                  kReferences);
  digits.count = digits.images.shape[0];
  digits.pixels = digits.images.shape[1] * digits.images.shape[2];
  return digits;
}

/// The nearest reference of every query, ties to the lowest index, in plain integers.
std::vector<std::int32_t> exact_neighbours(const Digits& digits) {
  const auto pixel = [&](std::int64_t image, std::int64_t i) {
    return std::to_integer<std::int64_t>(digits.images.bytes[static_cast<std::size_t>(image * digits.pixels + i)]);
  };
  std::vector<std::int32_t> nearest;
  for (std::int64_t query = kReferences; query < digits.count; ++query) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int32_t found = -1;
    for (std::int32_t reference = 0; reference < kReferences; ++reference) {
      std::int64_t distance = 0;
      for (std::int64_t i = 0; i < digits.pixels; ++i) {
        const std::int64_t difference = pixel(query, i) - pixel(reference, i);
        distance += difference * difference;
      }
      if (distance >= least) continue;
      least = distance;
      found = reference;
    }
    nearest.push_back(found);
  }
  return nearest;
}

std::int32_t label(const Digits& digits, std::int64_t i) {
  std::int32_t value = 0;
  std::memcpy(&value, digits.labels.bytes.data() + i * byte_size(DType::kI32), sizeof value);
  return value;
}

}  // namespace

DigitsResult classify_digits(const ProgramPtr& program, const std::string& directory) {
  const Digits digits = read_digits(directory);
  const std::int64_t n = digits.count;
  const std::int64_t p = digits.pixels;
  const Tensor images = Tensor::from_bytes(program, digits.images.bytes, DType::kU8, {n, p}).cast(DType::kI32);
  const Tensor labels = Tensor::from_bytes(program, digits.labels.bytes, DType::kI32, {n});

  const Tensor references = images.shrink({0, kReferences, 0, p}).reshape({1, kReferences, p});
  const Tensor queries = images.shrink({kReferences, n, 0, p}).reshape({n - kReferences, 1, p});
  const Tensor distances = square(queries - references).sum({-1});
  const Tensor nearest = argmin(distances);
  const Tensor guesses = gather(labels.shrink({0, kReferences}), 0, nearest);
  const Tensor right = equal(guesses, labels.shrink({kReferences, n})).sum();
  realize({nearest, right});

  DigitsResult result{right.item<std::int64_t>(), n - kReferences};
  const std::vector<std::int32_t> exact = exact_neighbours(digits);
  for (std::int64_t i = 0; i < result.queries; ++i)
    result.expected += label(digits, exact[static_cast<std::size_t>(i)]) == label(digits, kReferences + i) ? 1 : 0;
  result.same_neighbours = nearest.to_vector<std::int32_t>() == exact;
  return result;
}

}  // namespace uop
