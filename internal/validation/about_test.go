package validation

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestCatalogueNamesExactlyTheRules reads the chains from the source, so that no
// chain can be forgotten: findings get their names from a chain alone.
func TestCatalogueNamesExactlyTheRules(t *testing.T) {
	t.Parallel()
	inChains := chainedRules(t)
	if len(inChains) < 30 {
		t.Fatalf("found only the rules %v: the source is not read as it should be", slices.Sorted(maps.Keys(inChains)))
	}
	described := map[string]bool{}
	for _, a := range Catalogue() {
		if described[a.Rule] {
			t.Errorf("rule %s is described twice", a.Rule)
		}
		described[a.Rule] = true
		if !inChains[a.Rule] {
			t.Errorf("rule %s is described, and no chain has it", a.Rule)
		}
		if len(a.Kinds) == 0 || a.Summary == "" || a.Example == "" || a.Mended == "" {
			t.Errorf("rule %s lacks its kinds, its summary, an example or the mend", a.Rule)
		}
		if a.Strict && a.Severity == Refuse {
			t.Errorf("rule %s refuses, so being strict changes nothing", a.Rule)
		}
	}
	for name := range inChains {
		if !described[name] {
			t.Errorf("rule %s is not described: add it to the about_….go file of its subject", name)
		}
	}
}

// chainedRules returns the names in all variables of type []rule[…].
func chainedRules(t *testing.T) map[string]bool {
	t.Helper()
	files, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if list, ok := n.(*ast.CompositeLit); ok && isChain(list.Type) {
				for _, element := range list.Elts {
					names[ruleName(t, file, element)] = true
				}
			}
			return true
		})
	}
	return names
}

func isChain(e ast.Expr) bool {
	array, ok := e.(*ast.ArrayType)
	if !ok {
		return false
	}
	index, ok := array.Elt.(*ast.IndexExpr)
	if !ok {
		return false
	}
	name, ok := index.X.(*ast.Ident)
	return ok && name.Name == "rule"
}

func ruleName(t *testing.T, file string, element ast.Expr) string {
	t.Helper()
	if r, ok := element.(*ast.CompositeLit); ok && len(r.Elts) > 0 {
		first := r.Elts[0]
		if kv, ok := first.(*ast.KeyValueExpr); ok {
			first = kv.Value
		}
		if lit, ok := first.(*ast.BasicLit); ok {
			if name, err := strconv.Unquote(lit.Value); err == nil {
				return name
			}
		}
	}
	t.Fatalf("%s: a rule of a chain does not begin with its name as a literal", file)
	return ""
}
