package main

import (
	"fmt"
	"go/ast"
	"go/token"
)

// block changes a list of statements.
func (in *instrument) block(list []ast.Stmt) {
	for _, s := range list {
		if what := removable(s); what != "" {
			in.drop(s, what)
		}
		in.stmt(s)
	}
}

func (in *instrument) drop(s ast.Stmt, what string) {
	in.wrap(s, fmt.Sprintf("if mutKeep(%d) { ", in.mutant(s.Pos(), "%s is left out", what)), " }")
}

// removable names a statement that can be left out; "" if the code would not compile without it.
func removable(s ast.Stmt) string {
	switch s := s.(type) {
	case *ast.ExprStmt:
		return "a call"
	case *ast.AssignStmt:
		for _, left := range s.Lhs {
			if name, ok := left.(*ast.Ident); ok && name.Name == "_" {
				return ""
			}
		}
		if s.Tok != token.DEFINE {
			return "an assignment"
		}
	case *ast.IncDecStmt:
		return "a count"
	case *ast.DeferStmt:
		return "a deferred call"
	case *ast.SendStmt:
		return "a sending"
	case *ast.BranchStmt:
		if s.Tok == token.CONTINUE || s.Tok == token.BREAK {
			return "a " + s.Tok.String()
		}
	}
	return ""
}

// stmt changes the parts of a statement.
func (in *instrument) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.BlockStmt:
		in.block(s.List)
	case *ast.IfStmt:
		in.branch(s)
	case *ast.ForStmt:
		in.simple(s.Init)
		in.cond(s.Cond)
		in.simple(s.Post)
		in.block(s.Body.List)
	case *ast.RangeStmt:
		in.expr(s.X)
		in.block(s.Body.List)
	case *ast.SwitchStmt:
		in.simple(s.Init)
		in.expr(s.Tag)
		in.cases(s.Body.List, s.Tag == nil)
	case *ast.TypeSwitchStmt:
		for _, clause := range s.Body.List {
			in.block(clause.(*ast.CaseClause).Body)
		}
	case *ast.SelectStmt:
		for _, clause := range s.Body.List {
			in.block(clause.(*ast.CommClause).Body)
		}
	case *ast.LabeledStmt:
		in.stmt(s.Stmt)
	default:
		in.simple(s)
	}
}

// simple changes the expressions of a statement without a body.
func (in *instrument) simple(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		in.expr(s.X)
	case *ast.AssignStmt:
		in.exprs(s.Rhs)
		if s.Tok != token.DEFINE {
			in.exprs(s.Lhs)
		}
	case *ast.ReturnStmt:
		in.exprs(s.Results)
	case *ast.DeferStmt:
		in.expr(s.Call)
	case *ast.GoStmt:
		in.expr(s.Call)
	case *ast.SendStmt:
		in.expr(s.Value)
	case *ast.DeclStmt:
		if d, ok := s.Decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
			for _, spec := range d.Specs {
				in.exprs(spec.(*ast.ValueSpec).Values)
			}
		}
	}
}

// branch changes an if. If it has no else, its return may be left out, since the code after it
// returns.
func (in *instrument) branch(s *ast.IfStmt) {
	in.simple(s.Init)
	in.cond(s.Cond)
	for _, inner := range s.Body.List {
		if r, ok := inner.(*ast.ReturnStmt); ok && s.Else == nil {
			in.drop(r, "a return")
		}
	}
	in.block(s.Body.List)
	if s.Else != nil {
		in.stmt(s.Else)
	}
}

func (in *instrument) cases(clauses []ast.Stmt, conditions bool) {
	for _, c := range clauses {
		clause := c.(*ast.CaseClause)
		for _, e := range clause.List {
			if conditions {
				in.cond(e)
			} else {
				in.expr(e)
			}
		}
		in.block(clause.Body)
	}
}
