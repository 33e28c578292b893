// Package schema publishes the JSON schema of settings.json, so that editors complete and check it.
//
//	published, err := schema.Schema()
//
// # Guarantees
//
// It is generated from [config.Keys] alone. It accepts what config.Load accepts, except that it
// does not check rules for several keys, or the form of URLs and branch names. The bytes are the
// same on every call.
//
// # Not here
//
// Checking settings: config.Load does that, with line numbers, and without linking a schema
// library.
package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ralph-loop/ralph/internal/ground/config"
)

// durationPattern is a time.Duration that is not negative.
const durationPattern = `^\+?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`

// Schema returns the indented JSON schema (draft 2020-12) of settings.json.
func Schema() ([]byte, error) {
	root := object("Settings of ralph: .ralph/settings.json")
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	add(root, "$schema", &jsonschema.Schema{Type: "string", Description: "the schema that editors check this file against"})

	objects := map[string]*jsonschema.Schema{"": root}
	for _, key := range config.Keys() {
		parent, name := split(key.Name)
		own, err := of(key)
		if err != nil {
			return nil, err
		}
		holder := objects[parent]
		if holder == nil {
			return nil, fmt.Errorf("schema: key %s comes before its object", key.Name)
		}
		add(holder, name, own)
		switch key.Kind {
		case config.KindObject:
			objects[key.Name] = own
		case config.KindObjects:
			objects[key.Name+"[]"] = own.Items
		case config.KindNamed:
			objects[key.Name+".NAME"] = own.AdditionalProperties
		}
		// In a list each object is complete; elsewhere another layer may hold the rest.
		if key.Required && strings.HasSuffix(parent, "[]") {
			holder.Required = append(holder.Required, name)
		}
	}
	published, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode schema: %w", err)
	}
	return append(published, '\n'), nil
}

// of returns the schema of one key, without the keys below it.
func of(key config.Key) (*jsonschema.Schema, error) {
	s := &jsonschema.Schema{}
	switch key.Kind {
	case config.KindString:
		s.Type = "string"
	case config.KindBool:
		s.Type = "boolean"
	case config.KindInt:
		s.Type = "integer"
	case config.KindFloat:
		s.Type = "number"
	case config.KindDuration:
		s.Type, s.Pattern = "string", durationPattern
	case config.KindStrings:
		s.Type, s.Items = "array", &jsonschema.Schema{Type: "string", Enum: words(key.Enum)}
	case config.KindPassed:
		s.AnyOf = []*jsonschema.Schema{{Type: "boolean"}, {Enum: []any{"auto"}}, {Type: "array", Items: &jsonschema.Schema{Type: "string", MinLength: new(1)}}}
	case config.KindNames:
		word := &jsonschema.Schema{Type: "string", Pattern: `\S`}
		s.AnyOf = []*jsonschema.Schema{word, {Type: "array", Items: word}}
	case config.KindNamed:
		s.Type, s.AdditionalProperties, s.PropertyNames = "object", object(""), &jsonschema.Schema{Pattern: config.NamePattern}
	case config.KindMap:
		s.Type, s.AdditionalProperties = "object", &jsonschema.Schema{Type: "string"}
	case config.KindObject:
		s = object("")
	case config.KindObjects:
		s.Type, s.Items = "array", object("")
	default:
		return nil, fmt.Errorf("schema: key %s is %s", key.Name, key.Kind)
	}
	switch key.Kind {
	case config.KindInt, config.KindFloat:
		s.Minimum = &key.Min
		if !math.IsInf(key.Max, 1) {
			s.Maximum = &key.Max
		}
	case config.KindString:
		s.Enum = words(key.Enum)
		if key.Required {
			s.MinLength = new(1)
		}
	}
	if key.None {
		s = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Enum: []any{"none", nil}}}}
	}
	s.Description = key.Doc
	fallback, err := defaultOf(key)
	if err != nil {
		return nil, err
	}
	s.Default = fallback
	return s, nil
}

// defaultOf returns the default as JSON, nil where a default would say nothing.
func defaultOf(key config.Key) (json.RawMessage, error) {
	switch key.Kind {
	case config.KindObject, config.KindObjects, config.KindStrings, config.KindMap, config.KindNamed:
		return nil, nil
	case config.KindBool, config.KindInt, config.KindFloat:
		if key.Default != "none" {
			return json.RawMessage(key.Default), nil
		}
	}
	if key.Default == "" {
		return nil, nil
	}
	return json.Marshal(key.Default)
}

func object(description string) *jsonschema.Schema {
	return &jsonschema.Schema{
		Type:                 "object",
		Description:          description,
		Properties:           map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}, // marshals as false
	}
}

func add(holder *jsonschema.Schema, name string, s *jsonschema.Schema) {
	holder.Properties[name] = s
	holder.PropertyOrder = append(holder.PropertyOrder, name)
}

// split cuts a dotted key before its last name.
func split(key string) (parent, name string) {
	at := strings.LastIndexByte(key, '.')
	if at < 0 {
		return "", key
	}
	return key[:at], key[at+1:]
}

func words(enum []string) []any {
	if enum == nil {
		return nil
	}
	list := make([]any, len(enum))
	for i, word := range enum {
		list[i] = word
	}
	return list
}
