package syntax

import (
	"path"
	"slices"
	"strings"
)

// A Lang is a language by name; "" is none.
type Lang string

// The languages that files are known by. JSX is part of JavaScript, and TSX is
// a language of its own, since "<T>x" is a cast in one and a tag in the other.
const (
	Go         Lang = "go"
	JavaScript Lang = "javascript"
	TypeScript Lang = "typescript"
	TSX        Lang = "tsx"
	Python     Lang = "python"
	Rust       Lang = "rust"
	Java       Lang = "java"
	C          Lang = "c"
	CPP        Lang = "cpp"
	JSON       Lang = "json"
	CSharp     Lang = "csharp"
	Ruby       Lang = "ruby"
	PHP        Lang = "php"
	Bash       Lang = "bash"
	CSS        Lang = "css"
	HTML       Lang = "html"
	Scala      Lang = "scala"
)

var endings = map[Lang][]string{
	Go:         {"go"},
	JavaScript: {"js", "cjs", "mjs", "jsx"},
	TypeScript: {"ts", "mts", "cts"},
	TSX:        {"tsx"},
	Python:     {"py", "pyi", "py3"},
	Rust:       {"rs"},
	Java:       {"java"},
	C:          {"c", "h"},
	CPP:        {"cc", "cpp", "cxx", "c++", "hh", "hpp"},
	JSON:       {"json"},
	CSharp:     {"cs"},
	Ruby:       {"rb", "rbw", "gemspec"},
	PHP:        {"php"},
	Bash:       {"sh", "bash", "zsh", "ksh", "bats"},
	CSS:        {"css"},
	HTML:       {"html", "htm", "xhtml"},
	Scala:      {"scala", "sc", "sbt"},
}

// startups are shell files without an ending, and a few more whole names.
var startups = map[string]Lang{
	".bashrc": Bash, ".bash_profile": Bash, ".bash_login": Bash, ".bash_logout": Bash, ".bash_aliases": Bash,
	".profile": Bash, ".zshrc": Bash, ".zshenv": Bash, ".zprofile": Bash, ".zlogin": Bash, ".zlogout": Bash,
	".kshrc": Bash, "Gemfile": Ruby, "Rakefile": Ruby,
}

var byEnding = func() map[string]Lang {
	m := map[string]Lang{}
	for lang, list := range endings {
		for _, e := range list {
			m[e] = lang
		}
	}
	return m
}()

// ByName returns the language of a file by its name, or "". Only the last
// element of the path counts, whichever slashes it has; an ending counts in
// lower case too, but ".C" and ".H" are no names for C.
func ByName(file string) Lang {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	if lang := startups[base]; lang != "" {
		return lang
	}
	ext := strings.TrimPrefix(path.Ext(base), ".")
	if lang := byEnding[ext]; lang != "" {
		return lang
	}
	if ext == "C" || ext == "H" {
		return ""
	}
	return byEnding[strings.ToLower(ext)]
}

// Langs returns all languages that [ByName] knows, sorted.
func Langs() []Lang {
	var out []Lang
	for lang := range endings {
		out = append(out, lang)
	}
	slices.Sort(out)
	return out
}

// Endings returns the file endings of a language, without the dot.
func Endings(lang Lang) []string { return slices.Clone(endings[lang]) }
