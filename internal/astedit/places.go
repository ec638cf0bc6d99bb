package astedit

import "dsh-acp/internal/syntax"

// A place is a context in which code may stand: text around it that makes a
// whole file of it.
type place struct {
	name          string // as a reader would call it
	before, after string
	// last places are tried where no other fits: code like "a=1" has a meaning
	// in nearly all of them, and as a keyword argument it is hardly meant.
	last bool
	// closes tells that after begins with a ";" that code may lack: a pattern
	// "let x = 1" is the statement with its semicolon.
	closes bool
	// only is the kind of node that the place is there for; "" for any.
	only string
}

// A dialect is what compiling a pattern needs to know of a language. The zero
// dialect has one place, the file, and metavariables as plain names.
type dialect struct {
	places []place
	// ones and runs are the forms, with %s for a name, that a metavariable takes
	// so that the language parses it, most common first. Text of the form
	// around the name is no part of the pattern.
	ones, runs []string
	// quoted tells that a metavariable which is the whole inside of a string
	// stands for the inside of any string; elsewhere it is text.
	quoted bool
	// lines are the beginnings of comments that end with the line, blocks the
	// pairs around others.
	lines  []string
	blocks [][2]string
	// anyCase tells that keywords may be of any case.
	anyCase bool
}

func file(d dialect) dialect {
	d.places = append([]place{{name: "file", after: "\n"}}, d.places...)
	return d
}

var (
	cComments = [][2]string{{"/*", "*/"}}
	slashes   = []string{"//"}
	hashes    = []string{"#"}
)

var javascript = dialect{
	places: []place{
		{name: "statement", before: "async function* f() {\n", after: "\n}"},
		{name: "expression", before: "(", after: ")"},
		{name: "pair", before: "({\n", after: "\n})", only: "pair"},
		{name: "class member", before: "class C {\n", after: "\n}", last: true},
		{name: "object member", before: "({\n", after: "\n})", last: true},
		{name: "switch case", before: "switch (x) {\n", after: "\n}", last: true},
		{name: "attribute", before: "(<a ", after: " />)", last: true},
		{name: "clause", before: "try {} ", after: "\n", last: true},
		{name: "parameter", before: "function f(", after: ") {}", last: true},
		{name: "import name", before: "import {", after: "} from 'x'", last: true},
		{name: "operator", before: "if (x) {} ", after: "\n", last: true},
	},
	ones:   []string{"%s", "'%s'"},
	runs:   []string{"%s", "%s;", "case %s:"},
	quoted: true, lines: slashes, blocks: cComments,
}

func typescript(tags bool) dialect {
	d := javascript
	d.places = nil
	for _, p := range javascript.places {
		if p.name != "attribute" || tags {
			d.places = append(d.places, p)
		}
	}
	d.places = append(d.places,
		place{name: "type", before: "type T = ", after: ";"},
		place{name: "interface member", before: "interface I {\n", after: "\n}", last: true},
		place{name: "enum member", before: "enum E {\n", after: "\n}", last: true},
		place{name: "type parameter", before: "type T<", after: "> = x;", last: true},
	)
	return file(d)
}

var cLike = dialect{
	places: []place{
		{name: "statement", before: "void f() {\n", after: ";\n}", closes: true},
		{name: "expression", before: "int x = (", after: ");"},
		{name: "type", before: "typedef ", after: " t;"},
		{name: "member", before: "struct s {\n", after: ";\n};", closes: true, last: true},
		{name: "switch case", before: "void f() { switch (x) {\n", after: "\n} }", last: true},
		{name: "parameter", before: "void f(", after: ");", last: true},
		{name: "initializer", before: "int x = {\n", after: "\n};", last: true},
		{name: "enumerator", before: "enum e {\n", after: "\n};", last: true},
	},
	ones:  []string{"%s", `"%s"`},
	runs:  []string{"%s", "%s;", "int %s;", "case %s:"},
	lines: slashes, blocks: cComments,
}

var dialects = map[syntax.Lang]dialect{
	syntax.Go: file(dialect{
		places: []place{
			{name: "statement", before: "package p\nfunc f() {\n", after: "\n}"},
			{name: "expression", before: "package p\nvar x = ", after: "\n"},
			{name: "type", before: "package p\nvar x ", after: "\n"},
			{name: "switch case", before: "package p\nfunc f() { switch x {\n", after: "\n} }"},
			{name: "type case", before: "package p\nfunc f() { switch x.(type) {\n", after: "\n} }"},
			{name: "select case", before: "package p\nfunc f() { select {\n", after: "\n} }"},
			{name: "field value", before: "package p\nvar x = T{\n", after: ",\n}", only: "keyed_element"},
			{name: "struct field", before: "package p\ntype T struct {\n", after: "\n}", last: true},
			{name: "interface method", before: "package p\ntype T interface {\n", after: "\n}", last: true},
			{name: "import", before: "package p\nimport (\n", after: "\n)", last: true},
			{name: "constant", before: "package p\nconst (\n", after: "\n)", last: true},
			{name: "parameter", before: "package p\nfunc f(", after: ") {}", last: true},
		},
		ones:  []string{"%s", `"%s"`},
		runs:  []string{"%s", "%s;", "case %s:"},
		lines: slashes, blocks: cComments,
	}),
	syntax.JavaScript: file(javascript),
	syntax.TypeScript: typescript(false),
	syntax.TSX:        typescript(true),
	syntax.Python: file(dialect{
		places: []place{
			{name: "statement", before: "async def f():\n ", after: "\n"},
			{name: "expression", before: "(", after: ")"},
			{name: "type", before: "x: ", after: "\n"},
			{name: "clause", before: "try:\n x\n", after: "\n", last: true},
			{name: "branch", before: "if x:\n x\n", after: "\n", last: true},
			{name: "match case", before: "match x:\n ", after: "\n", last: true},
			{name: "argument", before: "f(", after: ")", last: true},
			{name: "parameter", before: "def f(", after: "): pass", last: true},
			{name: "pair", before: "{", after: "}", last: true},
			{name: "decorator", before: "", after: "\ndef f(): pass", last: true},
		},
		lines: hashes,
	}),
	syntax.Rust: file(dialect{
		places: []place{
			{name: "statement", before: "async fn f() {\n", after: ";\n}", closes: true},
			{name: "expression", before: "fn f() { let x = ", after: "; }"},
			{name: "type", before: "type T = ", after: ";"},
			{name: "match arm", before: "fn f() { match x {\n", after: "\n} }", last: true},
			{name: "implementation member", before: "impl T {\n", after: ";\n}", closes: true, last: true},
			{name: "trait member", before: "trait T {\n", after: "\n}", last: true},
			{name: "field", before: "struct S {\n", after: "\n}", last: true},
			{name: "field value", before: "fn f() { S {\n", after: "\n}; }", last: true},
			{name: "variant", before: "enum E {\n", after: "\n}", last: true},
			{name: "parameter", before: "fn f(", after: ") {}", last: true},
			{name: "pattern", before: "fn f() { let ", after: " = x; }", last: true},
		},
		runs:  []string{"%s", "%s;", "%s: t", "%s!();", "%s => x,", "%s => x"},
		lines: slashes, blocks: cComments,
	}),
	syntax.Java: file(dialect{
		places: []place{
			{name: "statement", before: "class C { void f() {\n", after: ";\n} }", closes: true},
			{name: "expression", before: "class C { void f() { x = ", after: "; } }"},
			{name: "class member", before: "class C {\n", after: ";\n}", closes: true},
			{name: "type", before: "class C { ", after: " x; }"},
			{name: "annotation", before: "", after: " class C {}", last: true},
			{name: "switch case", before: "class C { void f() { switch (x) {\n", after: "\n} } }", last: true},
			{name: "parameter", before: "class C { void f(", after: ") {} }", last: true},
			{name: "clause", before: "class C { void f() { try {} ", after: "\n} }", last: true},
			{name: "enum constant", before: "enum E {\n", after: "\n}", last: true},
		},
		runs:  []string{"%s", "%s;", "int %s;", "case %s:"},
		lines: slashes, blocks: cComments,
	}),
	syntax.C: file(cLike),
	syntax.CPP: func() dialect {
		d := cLike
		d.places = append([]place{
			{name: "class member", before: "class C {\n", after: ";\n};", closes: true},
			{name: "clause", before: "void f() { try {} ", after: "\n}", last: true},
			{name: "template argument", before: "t<", after: "> x;", last: true},
		}, d.places...)
		return file(d)
	}(),
	syntax.JSON: {
		places: []place{
			{name: "file"},
			{name: "pair", before: "{", after: "}"},
		},
		ones: []string{`"%s"`}, runs: []string{`"%s"`, `"%s": 0`}, quoted: true,
		lines: slashes, blocks: cComments,
	},
	syntax.CSharp: file(dialect{
		places: []place{
			{name: "statement", before: "class C { async void F() {\n", after: ";\n} }", closes: true},
			{name: "expression", before: "class C { void F() { x = ", after: "; } }"},
			{name: "class member", before: "class C {\n", after: ";\n}", closes: true},
			{name: "type", before: "class C { ", after: " x; }"},
			{name: "attribute", before: "", after: " class C {}", last: true},
			{name: "switch case", before: "class C { void F() { switch (x) {\n", after: "\n} } }", last: true},
			{name: "parameter", before: "class C { void F(", after: ") {} }", last: true},
			{name: "clause", before: "class C { void F() { try {} ", after: "\n} }", last: true},
		},
		runs:  []string{"%s", "%s;", "int %s;", "case %s:"},
		lines: slashes, blocks: cComments,
	}),
	syntax.Ruby: file(dialect{
		places: []place{
			{name: "method body", before: "def f\n", after: "\nend"},
			{name: "expression", before: "(", after: ")"},
			{name: "branch", before: "case x\n", after: "\nend", last: true},
			{name: "clause", before: "begin\nx\n", after: "\nend", last: true},
			{name: "pair", before: "{", after: "}", last: true},
			{name: "argument", before: "f(", after: ")", last: true},
		},
		ones: []string{"%s", "D%s"}, runs: []string{"%s", "%s;"},
		lines: hashes,
	}),
	syntax.PHP: {
		places: []place{
			{name: "statement", before: "<?php\n", after: ";\n", closes: true},
			{name: "expression", before: "<?php\n$x = ", after: ";\n"},
			{name: "class member", before: "<?php\nclass C {\n", after: ";\n}", closes: true},
			{name: "array element", before: "<?php\n$x = [", after: "];\n", last: true},
			{name: "switch case", before: "<?php\nswitch ($x) {\n", after: "\n}", last: true},
			{name: "parameter", before: "<?php\nfunction f(", after: ") {}", last: true},
			{name: "clause", before: "<?php\ntry {} ", after: "\n", last: true},
		},
		ones: []string{"$%s", "%s"}, runs: []string{"$%s", "$%s;", "%s", "var $%s;", "case $%s:"},
		lines: []string{"//", "#"}, blocks: cComments, anyCase: true,
	},
	syntax.Bash: file(dialect{
		ones: []string{"%s", "$%s"}, runs: []string{"%s", "%s;", "%s) ;;"},
		lines: hashes,
	}),
	syntax.CSS: file(dialect{
		places: []place{
			{name: "declaration", before: "a {\n", after: ";\n}", closes: true},
			{name: "selector", before: "", after: " {}", last: true},
			{name: "value", before: "a { b: ", after: "; }", last: true},
		},
		runs:   []string{"%s", "%s;", "%s: x;"},
		blocks: cComments,
	}),
	syntax.HTML: file(dialect{
		places: []place{
			{name: "attribute", before: "<a ", after: "></a>", last: true},
		},
		blocks: [][2]string{{"<!--", "-->"}},
	}),
	syntax.Scala: file(dialect{
		places: []place{
			{name: "statement", before: "object O { def f() = {\n", after: "\n} }"},
			{name: "expression", before: "object O { val x = ", after: "\n}"},
			{name: "type", before: "object O { type T = ", after: "\n}"},
			{name: "case", before: "object O { x match {\n", after: "\n} }", last: true},
			{name: "parameter", before: "class C(", after: ")", last: true},
		},
		runs:  []string{"%s", "%s;", "case %s => x"},
		lines: slashes, blocks: cComments,
	}),
}

// dialectOf returns the dialect of a language with its forms filled in.
func dialectOf(lang syntax.Lang) dialect {
	d, ok := dialects[lang]
	if !ok {
		d = file(d)
	}
	if d.ones == nil {
		d.ones = []string{"%s"}
	}
	if d.runs == nil {
		d.runs = d.ones
	}
	return d
}
