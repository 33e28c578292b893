package acp_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agenttest"
)

func BenchmarkDecode(b *testing.B) { agenttest.BenchmarkDecode(b, captured("opencode")) }
