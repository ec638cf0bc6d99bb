package guard

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// said is a decision in a word: "ok", "ok:entry", "blocked:entry",
// "ambiguous:allow+block", or the reason.
func said(d Decision) string {
	switch d := d.(type) {
	case Allowed:
		if d.Entry != "" {
			return "ok:" + d.Entry
		}
		return "ok"
	case Ambiguous:
		return "ambiguous:" + d.Allow + "+" + d.Block
	case Denied:
		switch d.Why {
		case NoRoot:
			return "no root"
		case Malformed:
			return "malformed"
		case Outside:
			return "outside"
		case Blocked:
			return "blocked:" + d.Entry
		case LeadsOut:
			return "leads out"
		}
	}
	panic(fmt.Sprintf("no word for %v", d))
}

var (
	folding  = Style{Fold: true}
	windows  = Style{Windows: true, Fold: true}
	workedOn = Config{Root: "/p", Allow: []string{"/srv/x.json"}, Block: []string{"/p/secret"}, ReadAllow: []string{"/srv/x.json", "/srv/data"}}
)

func with(c Config, change func(*Config)) Config {
	change(&c)
	return c
}

var decideTests = []struct {
	name  string
	cfg   Config
	scope Scope
	path  string
	want  string
}{
	{"an entry opens a file", workedOn, Writing, "/srv/x.json", "ok:/srv/x.json"},
	{"and nothing beside it", workedOn, Writing, "/srv/y.json", "outside"},
	{"nor a name that begins like it", workedOn, Writing, "/srv/x.json2", "outside"},
	{"nor above it", workedOn, Writing, "/srv", "outside"},
	{"blocked, and below", workedOn, Writing, "/p/secret/k", "blocked:/p/secret"},
	{"blocked itself", workedOn, Reading, "/p/secret", "blocked:/p/secret"},
	{"a name that begins like a blocked one", workedOn, Writing, "/p/secretary.txt", "ok"},
	{"a folder's entry opens the folder alone", workedOn, Reading, "/srv/data/f", "outside"},
	{"that is", workedOn, Reading, "/srv/data", "ok:/srv/data"},
	{"the read list does not open for writing", workedOn, Writing, "/srv/data", "outside"},
	{"on both lists", with(workedOn, func(c *Config) { c.Block = []string{"/p/secret", "/srv"} }), Writing, "/srv/x.json", "ambiguous:/srv/x.json+/srv"},
	{"on both lists, by the read block list's fallback", with(workedOn, func(c *Config) { c.Block = []string{"/srv"} }), Reading, "/srv/x.json", "ambiguous:/srv/x.json+/srv"},
	{"on both lists, in the folder", Config{Root: "/p", Allow: []string{"x"}, Block: []string{"x"}}, Writing, "/p/x", "ambiguous:x+x"},
	{"set and empty does not fall back: block", with(workedOn, func(c *Config) { c.ReadBlock = []string{} }), Reading, "/p/secret/k", "ok"},
	{"set and empty does not fall back: allow", with(workedOn, func(c *Config) { c.ReadAllow = []string{} }), Reading, "/srv/x.json", "outside"},
	{"not set falls back", with(workedOn, func(c *Config) { c.ReadAllow = nil }), Reading, "/srv/x.json", "ok:/srv/x.json"},
	{"no root", Config{Allow: []string{"/a"}}, Writing, "/a", "no root"},
	{"no root, a relative entry", Config{Allow: []string{"a"}, Block: []string{"b"}}, Reading, "a", "no root"},
	{"relative", workedOn, Writing, "a/../b", "ok"},
	{"relative, out", workedOn, Writing, "../q", "outside"},
	{"relative, blocked by another way", workedOn, Writing, "a/../secret/./k", "blocked:/p/secret"},
	{"up past the top", workedOn, Writing, "../../../../p/secret", "blocked:/p/secret"},
	{"a relative entry that leads out", Config{Root: "/p/q", Allow: []string{"../ok.txt"}}, Writing, "/p/ok.txt", "ok:../ok.txt"},
	{"a sibling that begins like the root", workedOn, Writing, "/p-evil/x", "outside"},
	{"the root", workedOn, Writing, "/p", "ok"},
	{"the root with a slash", with(workedOn, func(c *Config) { c.Root = "/p/" }), Writing, "/p/a", "ok"},
	{"everything open", Config{Root: "/"}, Writing, "/a/b", "ok"},
	{"everything blocked", Config{Root: "/p", Block: []string{"/"}}, Writing, "/p/a", "blocked:/"},
	{"more folders", Config{Root: "/p", More: []string{"/q", "../r"}}, Writing, "/r/a", "ok"},
	{"names with dots", workedOn, Writing, "/p/..notes/...", "ok"},
	{"a star is a name", Config{Root: "/p", Block: []string{"*"}}, Writing, "/p/a", "ok"},
	{"a zero byte", workedOn, Writing, "/p/a\x00b", "malformed"},
	{"empty", workedOn, Writing, " ", "malformed"},
	{"case counts", workedOn, Writing, "/p/SECRET/k", "ok"},
	{"or not", with(workedOn, func(c *Config) { c.Style = folding }), Writing, "/p/SECRET/k", "blocked:/p/secret"},
	{"or not, for letters beyond ASCII", Config{Root: "/p", Block: []string{"ÄRGER"}, Style: folding}, Writing, "/P/ärger", "blocked:ÄRGER"},
	{"or not, for the Kelvin sign", Config{Root: "/p", Block: []string{"key"}, Style: folding}, Writing, "/p/\u212Aey", "blocked:key"},
}

func TestDecide(t *testing.T) {
	for _, c := range decideTests {
		p, err := New(c.cfg)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, said(p.Decide(c.scope, c.path)), c.name)
	}
	assert.Equal(t, "no root", said(Policy{}.Decide(Writing, "/a")))
}

func TestDecideWindows(t *testing.T) {
	cfg := Config{Root: `c:\work`, Allow: []string{`D:\gen\ok.txt`, `\\srv\share\a.txt`, `\top.txt`}, Block: []string{"secret", `\\srv\share\no`}, Style: windows}
	p, err := New(cfg)
	require.NoError(t, err)
	for _, c := range []struct{ path, want string }{
		{`C:\work\a.txt`, "ok"},
		{`c:/work/a.txt`, "ok"},
		{`C:\WORK\sub\..\A.TXT`, "ok"},
		{`C:\work-evil\a.txt`, "outside"},
		{`C:\work\..\..\..\work\a`, "ok"},
		{`D:\work\a.txt`, "outside"},
		{`sub\a.txt`, "ok"},
		{`..\x`, "outside"},
		{`\work\a`, "ok"},
		{`/work/secret`, "blocked:secret"},
		{`\top.txt`, `ok:\top.txt`},
		{`c:\top.txt`, `ok:\top.txt`},
		{`d:/gen/OK.txt`, `ok:D:\gen\ok.txt`},
		{`\\SRV\Share\A.txt`, `ok:\\srv\share\a.txt`},
		{`//srv/share/a.txt`, `ok:\\srv\share\a.txt`},
		{`\\srv\share\no\x`, `blocked:\\srv\share\no`},
		{`\\srv\share2\a.txt`, "outside"},
		{`\\srv\share`, "outside"},
		{`\\srv`, "malformed"},
		{`\\?\C:\work\a`, "ok"},
		{`//?/C:/work/a`, "malformed"},
		{`\\?\c:\work\secret\k`, "blocked:secret"},
		{`\\?\C:\work\..\x`, "malformed"},
		{`\\?\C:\work/x`, "malformed"},
		{`\\?\UNC\srv\share\no\x`, `blocked:\\srv\share\no`},
		{`\\?\unc\SRV\share\a.txt`, `ok:\\srv\share\a.txt`},
		{`\\?\UNC\srv`, "malformed"},
		{`\\?\Volume{1}\x`, "malformed"},
		{`\\?\GLOBALROOT\Device\x`, "malformed"},
		{`\\?\C:`, "malformed"},
		{`\\.\C:\work\a`, "malformed"},
		{`\??\C:\work\a`, "malformed"},
		{`C:`, "malformed"},
		{`C:a.txt`, "malformed"},
		{`C:\work\secret.`, "blocked:secret"},
		{`C:\work\secret. .\k`, "blocked:secret"},
		{`C:\work\SECRET`, "blocked:secret"},
		{`C:\work\secret::$DATA`, "malformed"},
		{`C:\work\a.txt:s`, "malformed"},
		{`C:\work\secretary`, "ok"},
		{`C:\work\NUL`, "malformed"},
		{`C:\work\con.txt`, "malformed"},
		{`C:\work\com1 .log`, "malformed"},
		{`C:\work\LPT²`, "malformed"},
		{`C:\work\console`, "ok"},
		{`C:\work\com10`, "ok"},
		{`C:\work\...\x`, "malformed"},
		{`C:\work\..notes`, "ok"},
	} {
		assert.Equal(t, c.want, said(p.Decide(Writing, c.path)), c.path)
	}
	abs, err := p.Absolute(`sub/./a\..\b`)
	require.NoError(t, err)
	assert.Equal(t, `C:\work\sub\b`, abs)
	top, err := p.Absolute(`c:/`)
	require.NoError(t, err)
	assert.Equal(t, `C:\`, top)
	counting, err := New(Config{Root: `C:\Work`, Style: Style{Windows: true}})
	require.NoError(t, err)
	assert.Equal(t, "ok", said(counting.Decide(Writing, `c:\Work\a`)), "a drive's letter has no case")
	assert.Equal(t, "outside", said(counting.Decide(Writing, `C:\work\a`)))
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Root: "p"}, `guard: root "p": the path is relative`},
		{Config{Root: `\p`, Style: windows}, `the path is relative`},
		{Config{Root: "/p", More: []string{""}}, `guard: open folder 1, "": the path is empty`},
		{Config{Root: "/p", Allow: []string{"a", " "}}, `guard: allow list: entry 2, " ": the path is empty`},
		{Config{Root: "/p", Block: []string{"a\x00"}}, `guard: block list: entry 1`},
		{Config{Root: "/p", ReadBlock: []string{""}}, `guard: read block list: entry 1`},
		{Config{Root: `C:\p`, ReadAllow: []string{"nul"}, Style: windows}, `guard: read allow list: entry 1`},
	} {
		_, err := New(c.cfg)
		assert.ErrorContains(t, err, c.want)
	}
}

func TestMessages(t *testing.T) {
	p, err := New(with(workedOn, func(c *Config) { c.Block = append(c.Block, "both"); c.Allow = append(c.Allow, "both") }))
	require.NoError(t, err)
	l := p.Locate(func(path string) (string, error) { return path, nil })
	for _, c := range []struct {
		path, real string
		want       []string
	}{
		{"/q/a", "/q/a", []string{"/q/a lies outside of what is open: /p, /srv/x.json"}},
		{"/p/secret/k", "", []string{`/p/secret/k is blocked by the entry "/p/secret" of the block list`}},
		{"/p/l", "/p/secret/k", []string{"/p/l, which leads through a link to /p/secret/k, is blocked", "/p/secret"}},
		{"/p/l", "/etc/passwd", []string{"/p/l, which leads through a link to /etc/passwd, outside of what is open: /p"}},
		{"/p/both", "", []string{"/p/both is on both lists", `"both"`}},
		{"a\x00", "", []string{"zero byte"}},
	} {
		d := l.Decide(Writing, c.path, c.real).(interface {
			Error() string
			Remedy() string
		})
		assert.True(t, strings.HasPrefix(d.Error(), "permission denied: "+c.path), d.Error())
		assert.NotEmpty(t, d.Remedy())
		for _, w := range c.want {
			assert.Contains(t, d.Error(), w)
		}
	}
	none := Policy{}.Decide(Writing, "/a").(Denied)
	assert.Equal(t, "permission denied: /a: no folder is open in this session", none.Error())
	many, err := New(Config{Root: "/p", Allow: strings.Split("/1 /2 /3 /4 /5 /6 /7 /8 /9", " ")})
	require.NoError(t, err)
	assert.Contains(t, many.Decide(Writing, "/x").(Denied).Error(), "/p, /1, /2, /3, /4, /5, /6, /7 and 2 more")
}

// A tree of links for Locate: the longest prefix that is a link is replaced.
func links(m map[string]string) func(string) (string, error) {
	return func(p string) (string, error) {
		for range 10 {
			again := false
			for from, to := range m {
				if within(from, p) {
					if to == "loop" {
						return "", fmt.Errorf("loop")
					}
					p, again = to+p[len(from):], true
				}
			}
			if !again {
				return p, nil
			}
		}
		return "", fmt.Errorf("loop")
	}
}

func TestLocated(t *testing.T) {
	world := links(map[string]string{
		"/link": "/real", "/real/pub": "/real/secret", "/real/out": "/etc", "/real/alias": "/real/a",
		"/blocked": "/srv/hidden", "/real/loop": "loop", "/gone": "loop",
	})
	for _, c := range []struct {
		name  string
		cfg   Config
		path  string
		want  string
		first string // what Before says, if it is not "ok" or want
	}{
		{"a root that is a link", Config{Root: "/link"}, "/link/a", "ok", ""},
		{"the real path of a root", Config{Root: "/link"}, "/real/a", "ok", ""},
		{"a root that cannot be followed", Config{Root: "/gone", Allow: []string{"/x"}}, "/x", "no root", ""},
		{"out by a link", Config{Root: "/real"}, "/real/out/passwd", "leads out", "ok"},
		{"out by a link that is on the list, but lies in the root", Config{Root: "/real", Allow: []string{"out/passwd"}}, "/real/out/passwd", "leads out", "ok"},
		{"out by a link of the list", Config{Root: "/p", Allow: []string{"/real/out/passwd"}}, "/real/out/passwd", "ok:/real/out/passwd", ""},
		{"a blocked folder by a link", Config{Root: "/real", Block: []string{"secret"}}, "/real/pub/k", "blocked:secret", "ok"},
		{"an entry that is a link", Config{Root: "/real", Block: []string{"pub"}}, "/real/secret/k", "blocked:pub", "ok"},
		{"an entry below the root's link", Config{Root: "/link", Block: []string{"a"}}, "/real/alias", "blocked:a", "ok"},
		{"both lists, by a link", Config{Root: "/p", Allow: []string{"/srv/hidden/k"}, Block: []string{"/blocked"}}, "/srv/hidden/k", "ambiguous:/srv/hidden/k+/blocked", "ok:/srv/hidden/k"},
		{"an entry that cannot be followed holds by its letters", Config{Root: "/real", Block: []string{"loop"}}, "/real/loop", "blocked:loop", ""},
		{"and closes nothing else", Config{Root: "/real", Block: []string{"loop"}}, "/real/a", "ok", ""},
	} {
		p, err := New(c.cfg)
		require.NoError(t, err, c.name)
		l := p.Locate(world)
		if c.first == "" {
			c.first = c.want
		}
		assert.Equal(t, c.first, said(l.Before(Writing, c.path)), c.name)
		real, err := world(c.path)
		if err != nil {
			real = c.path
		}
		assert.Equal(t, c.want, said(l.Decide(Writing, c.path, real)), c.name)
	}
}

func TestAllowListChanges(t *testing.T) {
	p, err := New(Config{Root: "/p"})
	require.NoError(t, err)
	p, err = p.WithoutAllow("/a")
	require.NoError(t, err)
	assert.Nil(t, p.Config().Allow, "no entry, no change")
	p, err = p.WithAllow("/a")
	require.NoError(t, err)
	p, err = p.WithAllow("/x/../a")
	require.NoError(t, err)
	assert.Equal(t, []string{"/a"}, p.Config().Allow, "the same place by another spelling")
	q, err := New(with(p.Config(), func(c *Config) { c.ReadAllow = []string{"../a", "/b"} }))
	require.NoError(t, err)
	q, err = q.WithoutAllow("/a")
	require.NoError(t, err)
	assert.Equal(t, []string{}, q.Config().Allow, "empty, and still set")
	assert.Equal(t, []string{"/b"}, q.Config().ReadAllow)
	_, err = p.WithAllow("")
	assert.Error(t, err)
	assert.Equal(t, "ok:/a", said(p.Decide(Writing, "/a")), "a policy does not change")
}

// Whatever is written, a decision never depends on how the path is spelled,
// and nothing that lies on a blocked place is let through.
func FuzzDecide(f *testing.F) {
	for _, c := range decideTests {
		f.Add(c.cfg.Root, strings.Join(c.cfg.Allow, ","), strings.Join(c.cfg.Block, ","), c.path, c.cfg.Style.Windows, c.cfg.Style.Fold)
	}
	f.Add(`C:\work`, `D:\x`, `secret,\\s\h\x`, `\\?\C:\work\Secret.`, true, true)
	f.Fuzz(func(t *testing.T, root, allow, block, path string, win, fold bool) {
		style := Style{Windows: win, Fold: fold}
		p, err := New(Config{Root: root, Allow: strings.Split(allow, ","), Block: strings.Split(block, ","), Style: style})
		if err != nil {
			t.Skip()
		}
		d := p.Decide(Writing, path)
		ok, allowed := d.(Allowed)
		if !allowed {
			msg := d.(interface{ Error() string }).Error()
			if !strings.HasPrefix(msg, "permission denied: "+path) {
				t.Fatalf("%q", msg)
			}
			return
		}
		if again := said(p.Decide(Writing, ok.Path)); again != said(d) {
			t.Fatalf("%q is %s, and as %q %s", path, said(d), ok.Path, again)
		}
		at, err := style.place("", ok.Path)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range strings.Split(block, ",") {
			b, err := p.at(e)
			if err == nil && within(b.key, at.key) {
				t.Fatalf("%q is allowed, below %q", ok.Path, e)
			}
		}
		r, err := p.at(root)
		if err != nil || ok.Entry == "" && !within(r.key, at.key) {
			t.Fatalf("%q is allowed, outside of %q", ok.Path, root)
		}
	})
}
