package imports

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxt-dev/ctxt/index/symbols"
)

// tree builds files from "path: content" and returns the resolved edges as "a -> b" lines.
func edges(content map[string]string) []string {
	var files []File
	for _, p := range sortedKeys(content) {
		lang := symbols.Language(p)
		r := symbols.Extract(lang, []byte(content[p]), symbols.Auto)
		files = append(files, File{Path: p, Lang: lang, Imports: r.Imports, Symbols: r.Symbols})
	}
	got, err := Resolve(context.Background(), files, func(p string) []byte {
		if c, ok := content[p]; ok {
			return []byte(c)
		}
		return nil
	})
	if err != nil {
		panic(err) // only an ended context fails it
	}
	var out []string
	for i, ids := range got {
		for _, id := range ids {
			out = append(out, files[i].Path+" -> "+files[id].Path)
		}
	}
	return out
}

func TestResolve(t *testing.T) {
	for _, c := range []struct {
		name string
		tree map[string]string
		want []string
	}{
		{"go", map[string]string{
			"go.mod":                         "module example.com/app\n\ngo 1.26\n",
			"main.go":                        "package main\nimport (\n\t\"fmt\"\n\t\"example.com/app/pkg/a\"\n\t\"example.com/app/tools/x\"\n)\n",
			"main_test.go":                   "package main\nimport \"example.com/app/pkg/a\"\n",
			"pkg/a/a.go":                     "package a\n",
			"pkg/a/b.go":                     "package a\nimport \"github.com/v/lib\"\n",
			"pkg/a/a_test.go":                "package a\n",
			"tools/go.mod":                   "module example.com/app/tools // nested\n",
			"tools/x/x.go":                   "package x\n",
			"vendor/github.com/v/lib/lib.go": "package lib\n",
		}, []string{
			"main.go -> pkg/a/a.go", "main.go -> pkg/a/b.go", "main.go -> tools/x/x.go",
			"main_test.go -> pkg/a/a.go", "main_test.go -> pkg/a/b.go",
			"pkg/a/b.go -> vendor/github.com/v/lib/lib.go",
		}},
		{"python", map[string]string{
			"src/app/__init__.py":        "from .core import run as start\n",
			"src/app/core.py":            "import os\nfrom . import util\nfrom .sub.deep import x\n",
			"src/app/util.py":            "",
			"src/app/sub/__init__.py":    "",
			"src/app/sub/deep.py":        "from ...app import util\nfrom .. import core\n",
			"tests/test_core.py":         "from app import run\nimport app.sub.deep as d\nimport helper\n",
			"tests/helper.py":            "",
			"services/b/pkg/__init__.py": "",
			"services/b/pkg/m.py":        "import pkg\nimport app.util\n",
		}, []string{
			"services/b/pkg/m.py -> services/b/pkg/__init__.py", "services/b/pkg/m.py -> src/app/util.py",
			"src/app/__init__.py -> src/app/core.py",
			"src/app/core.py -> src/app/__init__.py", "src/app/core.py -> src/app/sub/deep.py", "src/app/core.py -> src/app/util.py",
			"src/app/sub/deep.py -> src/app/__init__.py", "src/app/sub/deep.py -> src/app/core.py",
			"src/app/sub/deep.py -> src/app/util.py",
			"tests/test_core.py -> src/app/__init__.py", "tests/test_core.py -> src/app/core.py",
			"tests/test_core.py -> src/app/sub/deep.py", "tests/test_core.py -> tests/helper.py",
		}},
		{"script", map[string]string{
			"package.json":                    `{"name": "root", "workspaces": ["packages/*"]}`,
			"tsconfig.json":                   "{\n // paths\n \"compilerOptions\": {\"baseUrl\": \".\", \"paths\": {\"@lib/*\": [\"packages/lib/src/*\",],},},\n}\n",
			"packages/lib/package.json":       `{"name": "@my/lib", "main": "dist/index.js"}`,
			"packages/lib/src/index.ts":       "export * from './deep/thing.js'\n",
			"packages/lib/src/deep/thing.ts":  "export const a = 1\n",
			"packages/lib/src/comp/index.tsx": "",
			"packages/app/package.json":       `{"name": "app", "imports": {"#int/*": "./src/internal/*.ts"}}`,
			"packages/app/src/main.ts":        "import lib from '@my/lib'\nimport App from './App.vue'\nimport x from '@lib/comp'\nimport y from '#int/y'\nimport '@/style'\nimport react from 'react'\nimport('./lazy')\nimport sub from '@my/lib/deep/thing'\n",
			"packages/app/src/App.vue":        "<script setup lang=\"ts\">\nimport raw from './lazy?raw'\n</script>\n",
			"packages/app/src/lazy.js":        "const m = require('..')\n",
			"packages/app/src/style.ts":       "",
			"packages/app/src/internal/y.ts":  "",
			"packages/app/index.js":           "",
		}, []string{
			"packages/app/src/App.vue -> packages/app/src/lazy.js",
			"packages/app/src/lazy.js -> packages/app/index.js",
			"packages/app/src/main.ts -> packages/app/src/App.vue",
			"packages/app/src/main.ts -> packages/app/src/internal/y.ts",
			"packages/app/src/main.ts -> packages/app/src/lazy.js",
			"packages/app/src/main.ts -> packages/app/src/style.ts",
			"packages/app/src/main.ts -> packages/lib/src/comp/index.tsx",
			"packages/app/src/main.ts -> packages/lib/src/deep/thing.ts",
			"packages/app/src/main.ts -> packages/lib/src/index.ts",
			"packages/lib/src/index.ts -> packages/lib/src/deep/thing.ts",
		}},
		{"rust", map[string]string{
			"Cargo.toml":             "[workspace]\nmembers = [\"a\", \"b-c\"]\n",
			"a/Cargo.toml":           "[package]\nname = \"a\"\n",
			"a/src/lib.rs":           "mod net;\npub mod util;\npub use crate::net::tcp::Stream;\n",
			"a/src/net/mod.rs":       "pub mod tcp;\nuse super::util;\n",
			"a/src/net/tcp.rs":       "use crate::util::{self, helper};\nuse std::io;\npub struct Stream;\n",
			"a/src/util.rs":          "mod inner;\n",
			"a/src/util/inner.rs":    "use super::super::net;\n",
			"a/tests/it.rs":          "mod support;\nuse a::Stream;\nuse crate::support::x;\n",
			"a/tests/support/mod.rs": "",
			"b-c/Cargo.toml":         "[package]\nname = \"b-c\"\n",
			"b-c/src/main.rs":        "use a::util::helper;\n",
		}, []string{
			"a/src/lib.rs -> a/src/net/mod.rs", "a/src/lib.rs -> a/src/net/tcp.rs", "a/src/lib.rs -> a/src/util.rs",
			"a/src/net/mod.rs -> a/src/net/tcp.rs", "a/src/net/mod.rs -> a/src/util.rs",
			"a/src/net/tcp.rs -> a/src/util.rs",
			"a/src/util.rs -> a/src/util/inner.rs", "a/src/util/inner.rs -> a/src/net/mod.rs",
			"a/tests/it.rs -> a/src/lib.rs", "a/tests/it.rs -> a/src/net/tcp.rs", "a/tests/it.rs -> a/tests/support/mod.rs",
			"b-c/src/main.rs -> a/src/util.rs",
		}},
		{"jvm", map[string]string{
			"core/src/main/java/com/x/Main.java":         "package com.x;\nimport com.x.util.Strings;\nimport static com.x.util.Strings.trim;\nimport java.util.List;\nimport com.x.model.*;\n",
			"core/src/main/java/com/x/util/Strings.java": "package com.x.util;\nclass Strings {}\n",
			"core/src/main/java/com/x/model/A.java":      "package com.x.model;\n",
			"core/src/main/kotlin/com/x/k/Ext.kt":        "package com.x.k\nfun String.shout() = 1\n",
			"app/src/main/kotlin/com/x/App.kt":           "package com.x\nimport com.x.k.shout\nimport com.x.util.Strings.Inner\n",
			"test/com/x/util/Strings.java":               "package com.x.util;\n",
		}, []string{
			"app/src/main/kotlin/com/x/App.kt -> core/src/main/java/com/x/util/Strings.java",
			"app/src/main/kotlin/com/x/App.kt -> core/src/main/kotlin/com/x/k/Ext.kt",
			"core/src/main/java/com/x/Main.java -> core/src/main/java/com/x/model/A.java",
			"core/src/main/java/com/x/Main.java -> core/src/main/java/com/x/util/Strings.java",
		}},
		{"c", map[string]string{
			"src/a.c":         "#include \"a.h\"\n#include <lib/b.h>\n#include <stdio.h>\n#include \"../deps/d.h\"\n",
			"src/a.h":         "#include \"c.hpp\"\n",
			"include/lib/b.h": "",
			"third/lib/b.h":   "",
			"deps/d.h":        "",
			"src/sub/c.hpp":   "",
		}, []string{
			"src/a.c -> deps/d.h", "src/a.c -> include/lib/b.h", "src/a.c -> src/a.h", "src/a.h -> src/sub/c.hpp",
		}},
		{"php", map[string]string{
			"composer.json":       `{"autoload": {"psr-4": {"App\\": "src/", "App\\Tests\\": ["tests"]}}}`,
			"src/Http/Kernel.php": "<?php\nnamespace App\\Http;\nuse App\\Models\\{User, Post as P};\nuse Other\\Lib\\Thing;\nrequire __DIR__.'/../boot.php';\n",
			"src/Models/User.php": "<?php\n", "src/Models/Post.php": "<?php\n", "src/boot.php": "<?php\n",
			"lib/Lib/Thing.php": "<?php\n",
			"tests/KTest.php":   "<?php\nuse App\\Http\\Kernel;\nuse App\\Tests\\Base;\n",
			"tests/Base.php":    "<?php\n",
		}, []string{
			"src/Http/Kernel.php -> lib/Lib/Thing.php", "src/Http/Kernel.php -> src/Models/Post.php",
			"src/Http/Kernel.php -> src/Models/User.php", "src/Http/Kernel.php -> src/boot.php",
			"tests/KTest.php -> src/Http/Kernel.php", "tests/KTest.php -> tests/Base.php",
		}},
		{"ruby", map[string]string{
			"lib/gem.rb":         "require 'gem/version'\nrequire_relative 'gem/core'\nrequire 'json'\n",
			"lib/gem/version.rb": "", "lib/gem/core.rb": "",
			"spec/core_spec.rb": "require 'gem/core'\n",
		}, []string{
			"lib/gem.rb -> lib/gem/core.rb", "lib/gem.rb -> lib/gem/version.rb", "spec/core_spec.rb -> lib/gem/core.rb",
		}},
		{"others", map[string]string{
			"A/User.cs":     "namespace My.Models;\nclass User {}\n",
			"B/Main.cs":     "using My.Models;\nclass Main {}\n",
			"lua/app/x.lua": "",
			"main.lua":      "local x = require('app.x')\n",
			"bin/run.sh":    "source \"$(dirname \"$0\")/lib.sh\"\n",
			"bin/lib.sh":    "",
			"api/a.proto":   "import \"api/b.proto\";\n",
			"api/b.proto":   "",
			"lib/a.ex":      "defmodule My.A do\n  alias My.B\nend\n",
			"lib/b.ex":      "defmodule My.B do\nend\n",
		}, []string{
			"B/Main.cs -> A/User.cs", "api/a.proto -> api/b.proto", "bin/run.sh -> bin/lib.sh",
			"lib/a.ex -> lib/b.ex", "main.lua -> lua/app/x.lua",
		}},
		{"escapes", map[string]string{
			"a.ts": "import '../../etc/passwd'\nimport '/abs'\nimport '.'\nimport './a'\n",
			"b.py": "from ..... import x\nfrom . import b\n",
			"c.c":  "#include \"../../../c.c\"\n#include \"/c.c\"\n",
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := edges(c.tree)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("edges (-want +got):\n%s", diff)
			}
		})
	}
}

func TestManifestsAreHostile(t *testing.T) {
	deep := strings.Repeat("[", 200_000)
	tree := map[string]string{
		"go.mod":        "module \"\nmodule\n",
		"package.json":  `{"name": 7, "exports": {".": {".": {".": 1}}}, "main": [1, null, "../../../x"]}`,
		"tsconfig.json": `{"extends": "./tsconfig.json", "compilerOptions": {"baseUrl": "../..", "paths": {"*": ["*"], "a*b*": ["../*"]}}}`,
		"jsconfig.json": deep,
		"composer.json": `{"autoload": {"psr-4": {"": "", "\\": ["../.."], "A\\": 5}}}`,
		"Cargo.toml":    "a = " + deep,
		"a/Cargo.toml":  "[package]\nname = \"\"\n[lib]\npath = \"../../..\"\n",
		"a/src/lib.rs":  "use super::super::super::x;\nmod a;\nuse crate;\n",
		"x.ts":          "import 'a1b2'\nimport 'x'\nimport '#y'\n",
		"x.php":         "<?php\nuse A\\B;\nuse B;\n",
	}
	if got := edges(tree); len(got) != 0 {
		t.Errorf("edges %v", got)
	}
}

// TestOrder checks the contract on random trees: ids ascending, in range, no file imports itself,
// and the same result twice.
func TestOrder(t *testing.T) {
	specs := []string{"a", "./a", "../a", "a.b", ".a", "a::b", "crate::a", "super::*", "mod a", "a/a.h", `A\B`, "a.*", "@/a", "#a", "", "."}
	exts := []string{"go", "py", "ts", "rs", "java", "kt", "c", "php", "rb", "cs", "vue", "lua", "ex", "dart"}
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string {
			dir := rapid.SampledFrom([]string{"", "a/", "src/", "a/b/", "src/a/"}).Draw(t, "dir")
			name := rapid.SampledFrom([]string{"a", "b", "index", "mod", "__init__", "lib"}).Draw(t, "name")
			return dir + name + "." + rapid.SampledFrom(exts).Draw(t, "ext")
		}), 1, 40, rapid.ID[string]).Draw(t, "paths")
		slices.Sort(paths)
		files := make([]File, len(paths))
		for i, p := range paths {
			files[i] = File{Path: p, Lang: symbols.Language(p)}
			for range 4 {
				files[i].Imports = append(files[i].Imports, symbols.Import{Spec: rapid.SampledFrom(specs).Draw(t, "spec"), Line: 1})
			}
			files[i].Symbols = []symbols.Symbol{{Name: "a", Kind: symbols.Function}, {Name: "a.b", Kind: symbols.Module}}
		}
		got, err := Resolve(context.Background(), files, nil)
		again, err2 := Resolve(context.Background(), files, nil)
		if diff := cmp.Diff(got, again); diff != "" || err != nil || err2 != nil {
			t.Fatal(diff, err, err2)
		}
		for i, ids := range got {
			if !slices.IsSorted(ids) || slices.Contains(ids, int32(i)) || len(ids) > 0 && int(ids[len(ids)-1]) >= len(files) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
				t.Fatalf("file %d of %d: %v", i, len(files), ids)
			}
		}
	})
}

// bigTree is a tree of n files in which many have the same name.
func bigTree(n int) []File {
	files := make([]File, n)
	for i := range files {
		p := fmt.Sprintf("d%04d/src/com/x/p%02d/", i/100, i%10)
		switch i % 4 {
		case 0:
			files[i] = File{Path: p + fmt.Sprintf("C%02d.java", i%100), Lang: "java",
				Imports: []symbols.Import{{Spec: "com.x.p04.C04"}, {Spec: "com.x.p02.*"}, {Spec: "java.util.List"}}}
		case 1:
			files[i] = File{Path: p + fmt.Sprintf("m%02d.py", i%100), Lang: "python", Imports: []symbols.Import{{Spec: "com.x.p01.m01"}, {Spec: ".m01"}}}
		case 2:
			files[i] = File{Path: p + fmt.Sprintf("h%02d.h", i%100), Lang: "c", Imports: []symbols.Import{{Spec: "h02.h"}, {Spec: "stdio.h"}}}
		case 3:
			files[i] = File{Path: p + fmt.Sprintf("t%02d.ts", i%100), Lang: "typescript", Imports: []symbols.Import{{Spec: "./t03"}, {Spec: "react"}}}
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// BenchmarkResolve shows that the time grows with the files: ns/file is the figure to compare.
func BenchmarkResolve(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		files := bigTree(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Resolve(context.Background(), files, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/file")
		})
	}
}

func FuzzManifests(f *testing.F) {
	f.Add([]byte(`{"name":"a","exports":{".":"./x"},/* c */"imports":{"#a":"./a.ts"},}`))
	f.Add([]byte("module example.com/a\n"))
	f.Add([]byte("[package]\nname = \"a\"\n[lib]\npath = \"x.rs\"\n"))
	f.Add([]byte(`{"compilerOptions":{"baseUrl":"..","paths":{"*":["../*"]}}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		tree := map[string]string{"a.ts": "import 'a'\nimport '#a'\n", "a.rs": "use a::b;\n", "a.php": "<?php\nuse A\\B;\n", "a.go": "package a\nimport \"example.com/a\"\n"}
		for name := range manifestReaders {
			tree[name] = string(src)
		}
		edges(tree)
	})
}
