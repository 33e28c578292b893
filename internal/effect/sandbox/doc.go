// Package sandbox wraps the command of an agent, so that the agent reaches only what it needs. The
// runner, the journal and the guardrails stay outside.
//
//	p := sandbox.Policy{Mode: sandbox.Bwrap, Dir: tree, Write: …, Protect: …, Hide: …, Network: sandbox.Listed}
//	box, err := sandbox.OpenBox(ctx, p)    // starts the proxy, if the network is limited
//	argv, env, err := box.Wrap(argv, env)  // of each process of the agent
//	err = box.Sweep(ctx)                   // containers that a dead runner left
//	notes, err := box.PutBack()            // after a process of the agent has ended
//	err = box.Close()
//
// A wrapped command is a longer one: bwrap … -- ralph inside … -- agent. The program "ralph inside"
// does what has to be done in the sandbox itself: it applies Landlock, and connects the agent with
// the proxy of the runner (see [Inside]).
//
// # What each mode does
//
//	bwrap           a file system of its own: all is read-only but Write, Hide is empty; own processes
//	landlock        rules of the kernel on the same files; needs a loop in a worktree
//	seatbelt        the same with the rules of macOS
//	docker, podman  a container with the tree, and nothing of the machine
//	docker-sandbox  a virtual machine of Docker Desktop, which the loops of a folder share
//
// What a mode keeps from the agent is tried by [Escape]; see 'ralph doctor --sandbox'.
package sandbox
