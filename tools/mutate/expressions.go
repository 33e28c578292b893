package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

func (in *instrument) exprs(list []ast.Expr) {
	for _, e := range list {
		in.expr(e)
	}
}

// cond changes an expression by which something is decided.
func (in *instrument) cond(e ast.Expr) {
	switch x := e.(type) {
	case nil:
	case *ast.ParenExpr:
		in.cond(x.X)
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			in.cond(x.X)
		} else {
			in.expr(e)
		}
	case *ast.BinaryExpr:
		in.expr(e)
	default:
		if in.info.Types[e].Value == nil {
			in.negate(e)
		}
		in.expr(e)
	}
}

func (in *instrument) negate(e ast.Expr) {
	in.wrap(e, fmt.Sprintf("mutNot(%d, ", in.mutant(e.Pos(), "%s is negated", short(e))), ")")
}

// expr changes an expression and what it consists of.
func (in *instrument) expr(e ast.Expr) {
	if e == nil || in.constant(e) {
		return
	}
	switch x := e.(type) {
	case *ast.BinaryExpr:
		in.binary(x)
	case *ast.ParenExpr:
		in.expr(x.X)
	case *ast.UnaryExpr:
		in.expr(x.X)
	case *ast.StarExpr:
		in.expr(x.X)
	case *ast.CallExpr:
		in.expr(x.Fun)
		in.exprs(x.Args)
	case *ast.SelectorExpr:
		in.expr(x.X)
	case *ast.IndexExpr:
		in.expr(x.X)
		if in.info.Types[x.Index].IsValue() {
			in.expr(x.Index)
		}
	case *ast.SliceExpr:
		in.exprs([]ast.Expr{x.X, x.Low, x.High, x.Max})
	case *ast.TypeAssertExpr:
		in.expr(x.X)
	case *ast.CompositeLit:
		for _, element := range x.Elts {
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				element = pair.Value
			}
			in.expr(element)
		}
	case *ast.FuncLit:
		in.block(x.Body.List)
	}
}

// constant changes a number, a name for a text, true or false. It reports whether e is
// constant as a whole.
func (in *instrument) constant(e ast.Expr) bool {
	tv, known := in.info.Types[e]
	if !known || !tv.IsValue() || tv.Value == nil {
		return false
	}
	name := in.typeName(tv.Type)
	if name == "" {
		return true
	}
	switch tv.Value.Kind() {
	case constant.Bool:
		if name == "bool" {
			in.wrap(e, fmt.Sprintf("mutNot(%d, ", in.mutant(e.Pos(), "%s becomes its opposite", short(e))), ")")
		}
	case constant.Int, constant.Float:
		in.wrap(e, fmt.Sprintf("mutNumber[%s](%d, ", name, in.mutant(e.Pos(), "%s grows", short(e))), ")")
	case constant.String:
		if in.named(e) {
			in.wrap(e, fmt.Sprintf("mutText[%s](%d, ", name, in.mutant(e.Pos(), "%s becomes another", short(e))), ")")
		}
	}
	return true
}

// named reports whether e is the name of a constant. Other texts are for people to read.
func (in *instrument) named(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.Ident:
		_, ok := in.info.Uses[x].(*types.Const)
		return ok
	case *ast.SelectorExpr:
		return in.named(x.Sel)
	}
	return false
}

// typeName spells a type in this file; empty where it cannot.
func (in *instrument) typeName(t types.Type) string {
	t = types.Default(t)
	basic, ok := t.Underlying().(*types.Basic)
	if !ok || basic.Info()&types.IsComplex != 0 || basic.Kind() == types.UntypedNil {
		return ""
	}
	missing := false
	name := types.TypeString(t, func(p *types.Package) string {
		if p == in.pkg {
			return ""
		}
		local, ok := in.imports[p.Path()]
		missing = missing || !ok
		return local
	})
	if missing {
		return ""
	}
	return name
}

var comparisons = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}

var arithmetic = map[token.Token]string{token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*", token.REM: "*"}

func (in *instrument) binary(x *ast.BinaryExpr) {
	switch x.Op {
	case token.LAND, token.LOR:
		in.logic(x)
		in.cond(x.X)
		in.cond(x.Y)
		return
	case token.EQL, token.NEQ:
		in.negate(x)
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		in.negate(x)
		in.call(x, fmt.Sprintf("mutCompare(%d, %q, ", in.mutant(x.OpPos, "%s: %s becomes %s", short(x), x.Op, comparisons[x.Op]), x.Op.String()))
	case token.ADD, token.SUB, token.MUL, token.QUO, token.REM:
		if basic, ok := in.info.TypeOf(x).Underlying().(*types.Basic); ok && basic.Info()&types.IsNumeric != 0 {
			in.call(x, fmt.Sprintf("mutCompute(%d, %q, ", in.mutant(x.OpPos, "%s: %s becomes %s", short(x), x.Op, arithmetic[x.Op]), x.Op.String()))
		}
	}
	in.expr(x.X)
	in.expr(x.Y)
}

// call makes an operator's operands the arguments of a function.
func (in *instrument) call(x *ast.BinaryExpr, before string) {
	in.wrap(x, before, ")")
	in.replace(x.OpPos, x.OpPos+token.Pos(len(x.Op.String())), ", ")
}

func (in *instrument) logic(x *ast.BinaryExpr) {
	name, other := "mutAnd", "||"
	if x.Op == token.LOR {
		name, other = "mutOr", "&&"
	}
	in.wrap(x, fmt.Sprintf("%s(%d, ", name, in.mutant(x.OpPos, "%s: %s becomes %s", short(x), x.Op, other)), ") })")
	in.replace(x.OpPos, x.OpPos+2, ", func() bool { return (")
}

// short spells an expression in a few words.
func short(e ast.Expr) string {
	text := []rune(types.ExprString(e))
	if len(text) > 60 {
		text = append(text[:57], '…')
	}
	return string(text)
}
