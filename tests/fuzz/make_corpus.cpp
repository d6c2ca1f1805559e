// uop_fuzz_corpus: writes the seeds of tests/fuzz/corpus, from the sample graphs and plans. To be run again when
// formats change; what the fuzzers found is kept beside under names of its own.
#include <elf.h>

#include <CLI/CLI.hpp>
#include <random>

#include "core/compiler.h"
#include "core/ir/structure.h"
#include "core/wire/graph_codec.h"
#include "core/wire/plan_codec.h"
#include "core/wire/stored_plan.h"
#include "tests/fuzz/corpus.h"
#include "tests/sample_graphs.h"
#include "tests/sample_plan.h"

namespace {

using namespace uop;

class Folder {
 public:
  explicit Folder(const std::filesystem::path& path) : path_(path) { std::filesystem::create_directories(path); }
  void write(const std::string& name, std::string_view bytes) {
    std::ofstream(path_ / name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

 private:
  std::filesystem::path path_;
};

constexpr const char* kSoftmax =
    "%0 = BUFFER slot=0 size=32 : f32[32]\n%1 = RESHAPE(%0) shape=[4,8]\n%2 = REDUCE(%1) op=MAX axes=1\n"
    "%3 = RESHAPE(%2) shape=[4,1]\n%4 = EXPAND(%3) shape=[4,8]\n%5 = SUB(%1, %4)\n%6 = EXP2(%5)\n"
    "%7 = REDUCE(%6) op=ADD axes=1\n%8 = RECIPROCAL(%7)\n%9 = RESHAPE(%8) shape=[4,1]\n%10 = EXPAND(%9) shape=[4,8]\n"
    "%11 = MUL(%6, %10)\nreturn %11\n";

/// One listing for each op, each with another dtype.
std::vector<std::string> listings() {
  std::vector<std::string> chosen = {kSoftmax};
  const std::vector<std::string> all = sample_listings();
  for (std::size_t i = 0; i < all.size(); i += 7) chosen.push_back(all[i]);
  return chosen;
}

void write_graphs(Folder folder) {
  int i = 0;
  for (const std::string& listing : listings()) {
    const StatusOr<RootedGraph> graph = parse_text(listing);
    if (!graph.ok()) continue;
    folder.write(fmt::format("wire_{:02}", i), encode_graph(graph->roots).SerializeAsString());
    if (i % 4 == 0) folder.write(fmt::format("text_{:02}", i), listing);
    if (i % 4 == 0) folder.write(fmt::format("structure_{:02}", i), structure_bytes(graph->roots));
    i++;
  }
}

void write_programs(Folder folder) {
  for (unsigned i = 0; i < 48; i++) {
    std::mt19937 random(i);
    std::string bytes(20 + i * 3, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    folder.write(fmt::format("program_{:02}", i), bytes);
  }
}

/// A shared object of one segment, which holds the dynamic section.
std::string shared_object() {
  Elf64_Ehdr header{};
  std::copy_n(ELFMAG, SELFMAG, header.e_ident);
  header.e_type = ET_DYN;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Phdr segment{};
  segment.p_type = PT_DYNAMIC;
  segment.p_offset = sizeof header + sizeof segment;
  segment.p_filesz = 3 * sizeof(Elf64_Dyn);
  const Elf64_Dyn dynamic[3] = {{DT_HASH, {0}}, {DT_SYMTAB, {0}}, {DT_NULL, {0}}};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(&segment), sizeof segment);
  return bytes.append(reinterpret_cast<const char*>(dynamic), sizeof dynamic);
}

void write_files(Folder folder) {
  std::vector<StoredPlanData> plans(1);
  plans[0].structure = "structure";
  plans[0].plan = sample_plan();
  for (const std::string& listing : listings()) {
    if (plans.size() == 8) break;
    const StatusOr<RootedGraph> graph = parse_text(listing);
    if (!graph.ok()) continue;
    const StatusOr<Plan> plan = compile_plan(graph->roots, {});
    if (!plan.ok()) continue;
    StoredPlanData& data = plans.emplace_back();
    data.structure = structure_bytes(graph->roots);
    data.plan = *plan;
    for (KernelProgram& p : data.plan.programs) p.source.resize(std::min<std::size_t>(p.source.size(), 64));
  }
  for (std::size_t i = 0; i < plans.size(); i++) {
    folder.write(fmt::format("stored_{}", i), "\2" + serialize_stored_plan(plans[i]));
    folder.write(fmt::format("plan_{}", i), "\3" + encode_plan(plans[i].plan, true).SerializeAsString());
  }
  folder.write("entry", std::string("\0", 1) + std::string(100, 'x'));
  folder.write("changed_entry", "\1" + std::string("\0\7\1", 3) + "payload of an entry");
  folder.write("shared_object", "\4" + shared_object());
}

}  // namespace

int main(int argc, char** argv) {
  std::string directory;
  CLI::App app{"Writes the seeds that fuzzing starts from"};
  app.add_option("directory", directory, "tests/fuzz/corpus")->required();
  CLI11_PARSE(app, argc, argv);
  const std::filesystem::path root = directory;
  write_graphs(Folder(root / "graph_bytes"));
  write_programs(Folder(root / "graph_result"));
  write_files(Folder(root / "stored_file"));
}
