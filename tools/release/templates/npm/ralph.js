#!/usr/bin/env node
// Runs the program of this system, which npm has installed as an optional package.
const { spawnSync } = require("node:child_process");

const name = `@ralph-loop/ralph-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/ralph`);
} catch {
  console.error(`ralph: error: the package ${name} is not installed\nralph: hint: install it; there is one for Linux and macOS, x64 and arm64`);
  process.exit(3);
}
const { status, signal, error } = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (error) {
  console.error(`ralph: error: run ${program}: ${error.message}`);
  process.exit(3);
}
if (signal) process.kill(process.pid, signal);
process.exitCode = status;
