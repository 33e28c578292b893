// A client made with the official TypeScript library of the Agent Client Protocol, which validates each message with its
// schema. It prints what the agent sends, one JSON object per line.
//
//	node acp-client.mjs VERSION[+forms] FOLDER COMMAND ARGUMENTS...
//
// It answers a question with its second choice: by a button, or with +forms in a form.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";

const [mode, folder, command, ...args] = process.argv.slice(2);
const [version, forms] = mode.split("+");
const acp = await import(version === "2" ? "@agentclientprotocol/sdk/experimental/v2" : "@agentclientprotocol/sdk");
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
const print = (what) => console.log(JSON.stringify(what));
let idle = () => {};
const ended = new Promise((resolve) => (idle = resolve));
const app = acp
	.client({ name: "test" })
	.onNotification(acp.methods.client.session.update, ({ params }) => {
		print({ update: params.update });
		if (params.update.sessionUpdate === "state_update" && params.update.state === "idle") idle(params.update.stopReason);
	})
	.onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
		print({ permission: params });
		return { outcome: { outcome: "selected", optionId: params.options[2].optionId } };
	})
	.onRequest(acp.methods.client.elicitation.create, ({ params }) => {
		print({ form: params });
		return { action: "accept", content: { choice: params.requestedSchema.properties.choice.enum[1] } };
	});
await app.connectWith(stream, async (client) => {
	const m = acp.methods.agent;
	const info = { name: "test", version: "1" };
	const capabilities = forms ? { elicitation: { form: {} } } : {};
	print({
		initialized: await client.request(
			m.initialize,
			version === "2" ? { protocolVersion: 2, info, capabilities } : { protocolVersion: 1, clientInfo: info, clientCapabilities: capabilities },
		),
	});
	const { sessionId } = await client.request(m.session.new, { cwd: folder, mcpServers: [] });
	const prompt = [{ type: "text", text: "make the greeting" }];
	const answer = await client.request(m.session.prompt, { sessionId, prompt });
	print({ stopReason: answer.stopReason ?? (await ended) });
	print({ sessions: (await client.request(m.session.list, {})).sessions.map((s) => s.sessionId === sessionId) });
	print({ replay: true });
	const again = { sessionId, cwd: folder, mcpServers: [] };
	if (version === "2") await client.request(m.session.resume, { ...again, replayFrom: { type: "start" } });
	else await client.request(m.session.load, again);
});
agent.kill();
