#!/usr/bin/env node
// Runs the program of this system, which npm has installed as an optional package.
const { spawn } = require("node:child_process");

const name = `@ralph-loop/ralph-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/ralph`);
} catch {
  console.error(`ralph: error: the package ${name} is not installed\nralph: hint: install it; there is one for Linux and macOS, x64 and arm64`);
  process.exit(3);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  console.error(`ralph: error: run ${program}: ${error.message}`);
  process.exit(3);
});
child.on("exit", (code, signal) => {
  process.exitCode = code;
  if (!signal) return;
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
process.on("SIGINT", () => {}); // a terminal sends it to both
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
