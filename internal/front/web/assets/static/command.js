// commandOf parses what a person types, as 'ralph attach' does: text for the agent, or a command
// that begins with a slash. A line that begins with // is text with one.
export function commandOf(line, kind) {
  if (!line.startsWith("/")) return { kind, text: line };
  if (line.startsWith("//")) return { kind, text: line.slice(1) };
  const [, verb, rest] = line.match(/^\/(\S*)\s*([^]*)$/);
  switch (verb) {
    case "pause":
    case "resume":
    case "kill":
      return { kind: verb };
    case "steer":
    case "follow-up":
      return rest ? { kind: verb, text: rest } : { problem: `write it as in '/${verb} TEXT'` };
    case "stop": {
      const now = rest.match(/^now\b\s*([^]*)$/);
      return now ? { kind: "stop-now", text: now[1] } : { kind: "stop", text: rest };
    }
    case "set": {
      const set = rest.match(/^([^=\s]+)\s*=\s*([^]*)$/);
      return set ? { kind: "set", key: set[1], value: set[2] } : { problem: "write it as in '/set maximumIterations=30'" };
    }
  }
  return { problem: `there is no /${verb}; there are /steer, /follow-up, /pause, /resume, /stop, /stop now, /set and /kill` };
}
