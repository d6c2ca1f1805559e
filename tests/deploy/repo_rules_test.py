"""The rules of the repository, checked against its files: includes, layout of a file, formatting.

The table of modules is that of ARCHITECTURE.md. Run it by itself: python3 tests/deploy/repo_rules_test.py
"""
import pathlib
import re
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = ("core", "server", "client")

# What a module may include besides itself and the standard library.
MODULES = {
    "core/support": set(),
    "core/ir": {"core/support"},
    "core/wire": {"core/support", "core/ir", "proto"},
    "core/grad": {"core/support", "core/ir"},
    "core/schedule": {"core/support", "core/ir"},
    "core/lower": {"core/support", "core/ir"},
    "core/opt": {"core/support", "core/ir"},
    "core/render": {"core/support", "core/ir"},
    "core/compile": {"core/support"},
    "core/exec": {"core/support", "core/ir"},
    # core/*.h and core/*.cpp: the compiler and the engine, which join the modules.
    "core": {"core/support", "core/ir", "core/wire", "core/grad", "core/schedule", "core/lower", "core/opt",
             "core/render", "core/compile", "core/exec"},
    "server": {"core", "core/support", "core/ir", "core/wire", "core/compile", "core/exec", "proto"},
    "client/cpp": {"core/support", "core/ir", "core/wire", "proto"},
    "client/cli": {"client/cpp", "core/support", "core/ir", "core/wire", "proto"},
}
# Files that may include more: the one place that joins the client to an engine in its own process.
EXCEPTIONS = {
    "client/cpp/embedded.cpp": {"core", "core/compile", "core/exec"},
}

# (what is confined, where it may stand, in how many files at most)
CONFINED = (
    (r"#include [<\"](grpc|grpcpp)/", r"server/|client/cpp/connection\.", None),
    (r"#include [<\"](google/protobuf/|uopd/v1/)", r"core/wire/|server/|client/cpp/(connection|replies)\.", None),
    (r"#include <dlfcn\.h>", r"core/compile/", 1),
    (r"\bposix_spawnp?\(", r"core/compile/", 1),
    (r"\b(v?fork|popen|system)\(", r"(?!)", None),
    (r"\bgetenv\(", r"core/support/environment\.cpp", 1),
)


def files(*suffixes, folders=CODE):
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in suffixes)


def text(path):
    return path.read_text(encoding="utf-8")


def name(path):
    return path.relative_to(ROOT).as_posix()


def module(path_name):
    """The longest module that the file or include lies in; generated messages are `proto`."""
    if path_name.startswith("uopd/v1/"):
        return "proto"
    return max((m for m in MODULES if path_name.startswith(m + "/")), key=len, default=None)


def without_comments(source):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", source, flags=re.DOTALL)


class RepoRules(unittest.TestCase):
    def test_no_include_goes_up_or_sideways(self):
        for path in files(".h", ".cpp", ".inc"):
            own = module(name(path))
            allowed = MODULES[own] | {own} | EXCEPTIONS.get(name(path), set())
            for included in re.findall(r'^#include "([^"]+)"', text(path), re.MULTILINE):
                with self.subTest(file=name(path), include=included):
                    self.assertIn(module(included), allowed, "not in the module's row of the table")

    def test_what_is_confined_stays_there(self):
        for pattern, where, most in CONFINED:
            found = [name(path) for path in files(".h", ".cpp")
                     if re.search(pattern, without_comments(text(path)))]
            with self.subTest(pattern=pattern):
                self.assertEqual([f for f in found if not re.match(where, f)], [])
                if most is not None:
                    self.assertLessEqual(len(found), most, found)

    def test_every_header_says_what_it_is_for(self):
        for path in files(".h", ".inc"):
            with self.subTest(file=name(path)):
                self.assertTrue(text(path).startswith("//"), "begins with no comment")

    def test_every_source_says_what_it_is_for_or_begins_with_its_header(self):
        for path in files(".cpp"):
            first = text(path).lstrip().split("\n", 1)[0]
            own_header = f'#include "{name(path.with_suffix(".h"))}"'
            with self.subTest(file=name(path)):
                self.assertTrue(first.startswith("//") or first == own_header, first)

    def test_files_fit_on_a_few_screens(self):
        for path in files(".h", ".cpp", ".inc"):
            with self.subTest(file=name(path)):
                self.assertLessEqual(len(text(path).splitlines()), 400, "split it by noun")

    def test_nothing_is_left_for_later(self):
        marks = re.compile("|".join(("TO" "DO", "FIX" "ME", "for " "now", "DIS" "ABLED_", "GTEST_" "SKIP")))
        for path in files(".h", ".cpp", ".inc", ".proto", ".py", ".mjs",
                          folders=(*CODE, "proto", "tests", "bench", "scripts", "deploy")):
            if "node_modules" in path.parts:
                continue
            with self.subTest(file=name(path)):
                self.assertIsNone(marks.search(text(path)))

    def test_the_image_has_the_version_of_the_build(self):
        version = re.search(r"project\(uopd VERSION ([\d.]+)", text(ROOT / "CMakeLists.txt"))[1]
        self.assertIn(f'image.version="{version}"', text(ROOT / "Dockerfile"))
        self.assertIn(f"image: uopd:{version}\n", text(ROOT / "deploy/compose.yaml"))

    def test_formatting(self):
        clang_format = shutil.which("clang-format-14")
        self.assertIsNotNone(clang_format, "clang-format-14 is missing: run scripts/setup")
        sources = files(".h", ".cpp", folders=(*CODE, "tests", "bench"))
        run = subprocess.run([clang_format, "--dry-run", "-Werror", *map(str, sources)], cwd=ROOT,
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr[:4000])


if __name__ == "__main__":
    unittest.main()
