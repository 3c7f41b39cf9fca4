package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func write(t testing.TB, root, path, text string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, root, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func actions(changes []Change) string {
	var all []string
	for _, c := range changes {
		all = append(all, c.Action)
	}
	return strings.Join(all, " ")
}

// TestInstallAndRemove makes all files, finds nothing to do the second time, and takes them away again.
func TestInstallAndRemove(t *testing.T) {
	root := t.TempDir()
	write(t, root, "CLAUDE.md", "# Mine\nno line end")
	write(t, root, ".github/workflows/ci.yml", "on: push\n")
	steps := []struct {
		do   func(string, []string, bool) ([]Change, error)
		dry  bool
		want string
	}{
		{Remove, false, "absent absent absent absent"},
		{Install, true, "updated created created created"},
		{Install, false, "updated created created created"},
		{Install, false, "unchanged unchanged unchanged unchanged"},
		{Remove, true, "removed deleted deleted deleted"},
		{Remove, false, "removed deleted deleted deleted"},
		{Remove, false, "absent absent absent absent"},
	}
	for i, s := range steps {
		got, err := s.do(root, nil, s.dry)
		if err != nil {
			t.Fatal(err)
		}
		if actions(got) != s.want {
			t.Errorf("step %d: %s, want %s", i, actions(got), s.want)
		}
		if i == 2 {
			if text := read(t, root, ".cursor/rules/ctxt.mdc"); !strings.HasPrefix(text, "---\ndescription: ") || !strings.Contains(text, "ctxt activate") {
				t.Errorf("Cursor's rule is\n%s", text)
			}
			if info, err := os.Stat(filepath.Join(root, "CLAUDE.md")); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the mode of CLAUDE.md changed: %v %v", info.Mode(), err)
			}
		}
	}
	if text := read(t, root, "CLAUDE.md"); text != "# Mine\nno line end" {
		t.Errorf("CLAUDE.md is %q", text)
	}
	for _, gone := range []string{"AGENTS.md", ".cursor", ".github/copilot-instructions.md"} {
		if _, err := os.Lstat(filepath.Join(root, gone)); err == nil {
			t.Errorf("%s is left", gone)
		}
	}
	read(t, root, ".github/workflows/ci.yml")
}

// TestTextRoundTrip installs into any text, with text added around the section later: what is outside
// the markers keeps its bytes, and installing twice changes nothing.
func TestTextRoundTrip(t *testing.T) {
	part := rapid.SliceOf(rapid.SampledFrom([]string{"a", "# B", "\n", "\r\n", "\r", "\n\n", " ", "é", "<!-- ctxt", "```", "\t"}))
	target := Targets()[0]
	rapid.Check(t, func(t *rapid.T) {
		old := strings.Join(part.Draw(t, "text"), "")
		once, err := install(target, old, true)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := install(target, once, true); err != nil || twice != once {
			t.Fatalf("the second time differs (%v):\n%q\n%q", err, once, twice)
		}
		if back, found, del, err := remove(target, once); err != nil || !found || del || back != old {
			t.Fatalf("%q came back as %q (%v %v %v)", old, back, found, del, err)
		}
		more := strings.Join(part.Draw(t, "more"), "")
		later, err := install(target, once+more, true)
		if err != nil || later != once+more {
			t.Fatalf("text behind the section changed: %v", err)
		}
		if back, _, _, err := remove(target, later); err != nil || back != old+more {
			t.Fatalf("%q came back as %q (%v)", old+more, back, err)
		}
	})
}

// TestUpdate replaces what an older release wrote between the markers.
func TestUpdate(t *testing.T) {
	target := Targets()[1]
	once, err := install(target, "before\n", true)
	if err != nil {
		t.Fatal(err)
	}
	older := strings.Replace(once, section, "old words\n", 1)
	if older == once {
		t.Fatal("the section is not in the text")
	}
	if again, err := install(target, older, true); err != nil || again != once {
		t.Errorf("%v: %s", err, again)
	}
	made, err := install(target, "", false)
	if err != nil {
		t.Fatal(err)
	}
	if back, _, del, err := remove(target, made+"mine\n"); err != nil || del || back != "mine\n" {
		t.Errorf("a file with words of its own: %q, deleted %v, %v", back, del, err)
	}
}

// TestRefused leaves every file as it is when one cannot be changed.
func TestRefused(t *testing.T) {
	begin := beginMark + "made=0 gap=1" + beginTail + "\n"
	for name, c := range map[string]struct{ text, want string }{
		"no end":      {"a\n" + begin + "b\n", "without a ctxt:end"},
		"no begin":    {"a\n" + endMark + "\n", "AGENTS.md, line 2: a ctxt:end marker without"},
		"twice":       {begin + endMark + "\n" + begin + endMark + "\n", "AGENTS.md, line 3: a second ctxt:begin"},
		"nested":      {begin + begin + endMark + "\n", "line 2: a second ctxt:begin"},
		"by hand":     {beginMark + "-->\n" + endMark + "\n", "line 1: a ctxt:begin marker that was changed by hand"},
		"gap":         {beginMark + "made=0 gap=9" + beginTail + "\n" + endMark + "\n", "changed by hand"},
		"binary":      {"a\x00b", "not UTF-8 text"},
		"UTF-16":      {"\xff\xfea\x00", "not UTF-8 text"},
		"unknown":     {"", `agent "emacs" is not known`},
		"link out":    {"", "leads out of the project"},
		"dead link":   {"", "a link that leads nowhere"},
		"folder link": {"", "leads out of the project"},
	} {
		t.Run(name, func(t *testing.T) {
			root, agents := t.TempDir(), []string(nil)
			write(t, root, "AGENTS.md", c.text)
			switch name {
			case "unknown":
				agents = []string{"claude", "emacs"}
			case "link out":
				link(t, t.TempDir(), filepath.Join(root, ".github"))
			case "dead link":
				link(t, "nowhere.md", filepath.Join(root, "CLAUDE.md"))
			case "folder link":
				link(t, t.TempDir(), filepath.Join(root, ".cursor"))
			}
			_, err := Install(root, agents, false)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if got := read(t, root, "AGENTS.md"); got != c.text {
				t.Errorf("AGENTS.md is %q", got)
			}
			if info, err := os.Lstat(filepath.Join(root, "CLAUDE.md")); err == nil && info.Mode().IsRegular() {
				t.Error("CLAUDE.md was written")
			}
		})
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

// TestLinkWithin follows a link to another agent's file and writes the section once.
func TestLinkWithin(t *testing.T) {
	root := t.TempDir()
	write(t, root, "AGENTS.md", "one file for all\n")
	link(t, "AGENTS.md", filepath.Join(root, "CLAUDE.md"))
	got, err := Install(root, []string{"claude", "codex"}, false)
	if err != nil || actions(got) != "updated unchanged" {
		t.Fatalf("%v %v", got, err)
	}
	if to, err := os.Readlink(filepath.Join(root, "CLAUDE.md")); err != nil || to != "AGENTS.md" {
		t.Errorf("the link is %q, %v", to, err)
	}
	if n := strings.Count(read(t, root, "AGENTS.md"), endMark); n != 1 {
		t.Errorf("%d sections", n)
	}
	if _, err := Remove(root, []string{"claude", "codex"}, false); err != nil || read(t, root, "AGENTS.md") != "one file for all\n" {
		t.Errorf("%v %q", err, read(t, root, "AGENTS.md"))
	}
}

// FuzzText looks for a text that install or remove changes outside the markers.
func FuzzText(f *testing.F) {
	f.Add("")
	f.Add("a\r\nb")
	f.Add(beginMark + "made=1 gap=2" + beginTail + "\nx\n" + endMark)
	target := Targets()[0]
	f.Fuzz(func(t *testing.T, text string) {
		once, err := install(target, text, true)
		if err != nil {
			return
		}
		p, found, err := find(target.Path, once)
		if err != nil || !found {
			t.Fatalf("no section in %q (%v)", once, err)
		}
		if _, had, _ := find(target.Path, text); had {
			return
		}
		if back, _, _, err := remove(target, once); err != nil || back != text {
			t.Fatalf("%q came back as %q: %v (%+v)", text, back, err, p)
		}
	})
}
