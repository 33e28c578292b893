// Texts of a journal come from an agent: nothing of them may reach a terminal as a control sequence.

const escape = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~])?/g;
const control = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** clean takes control sequences and characters out of a text; lines and tabs stay. */
export function clean(text: string): string {
	return text.replace(/\r\n?/g, "\n").replace(escape, "").replace(control, "").toWellFormed();
}

/** line is a text as one clean line of at most so many characters. */
export function line(text: string, max = 200): string {
	const one = clean(cut(text, 8 * max).text).replace(/\s+/g, " ").trim();
	return one.length <= max ? one : `${cut(one, max - 1).text}…`;
}

/** cut keeps the first max UTF-16 units of a text and says how many are gone; no pair is split. */
export function cut(text: string, max: number): { text: string; gone: number } {
	if (text.length <= max) return { text, gone: 0 };
	const end = (text.charCodeAt(max - 1) & 0xfc00) === 0xd800 ? max - 1 : max;
	return { text: text.slice(0, end), gone: text.length - end };
}

/** json cleans and bounds the input of a tool: each text, and all texts together. */
export function json(value: unknown, depth = 0, room = { left: 64 * 1024 }): unknown {
	room.left -= 8;
	if (typeof value === "string") {
		const kept = cut(value, Math.min(16 * 1024, Math.max(0, room.left)));
		room.left -= kept.text.length;
		return clean(kept.text) + (kept.gone ? `… (${kept.gone} more)` : "");
	}
	if (value === null || typeof value !== "object") return value;
	if (depth === 6 || room.left <= 0) return "…";
	if (Array.isArray(value)) return value.slice(0, 100).map((v) => json(v, depth + 1, room));
	const out: Record<string, unknown> = {};
	for (const [key, v] of Object.entries(value).slice(0, 100)) {
		if (room.left <= 0) break;
		room.left -= Math.min(key.length, 100);
		if (key !== "__proto__") out[line(key, 100)] = json(v, depth + 1, room);
	}
	return out;
}

/** words splits a line as a shell does, without expanding anything. It throws on a quote left open. */
export function words(text: string): string[] {
	const out: string[] = [];
	let word: string | undefined;
	let quote = "";
	for (let i = 0; i < text.length; i++) {
		const c = text[i]!;
		if (c === "\\" && quote !== "'" && i + 1 < text.length && (quote === "" || '"\\'.includes(text[i + 1]!))) {
			word = (word ?? "") + text[++i];
		} else if (quote !== "") {
			if (c === quote) quote = "";
			else word += c;
		} else if (c === "'" || c === '"') {
			quote = c;
			word ??= "";
		} else if (/\s/.test(c)) {
			if (word !== undefined) out.push(word);
			word = undefined;
		} else {
			word = (word ?? "") + c;
		}
	}
	if (quote !== "") throw new Error(`a ${quote} is left open`);
	if (word !== undefined) out.push(word);
	return out;
}

/** first splits the first word off a line; the rest stays as it was typed. */
export function first(text: string): [word: string, rest: string] {
	const m = /^\s*(\S*)\s*([\s\S]*)$/.exec(text)!;
	return [m[1]!, m[2]!.trimEnd()];
}

/** took writes milliseconds: 4.2s, 12m, 3h05m. */
export function took(ms: number): string {
	const s = Math.max(0, ms) / 1000;
	if (s < 10) return `${s.toFixed(1)}s`;
	if (s < 60) return `${Math.floor(s)}s`;
	const m = Math.floor(s / 60);
	return m < 60 ? `${m}m${m < 10 ? String(Math.floor(s % 60)).padStart(2, "0") + "s" : ""}` : `${Math.floor(m / 60)}h${String(m % 60).padStart(2, "0")}m`;
}

/** money writes dollars; what nobody knows is not 0. */
export function money(usd: unknown): string {
	if (typeof usd !== "number" || !Number.isFinite(usd)) return "cost unknown";
	return `$${usd < 1 ? usd.toFixed(3) : usd.toFixed(2)}`;
}

/** count writes a number of tokens: 950, 3.4k, 1.2M. */
export function count(n: number): string {
	if (n < 1000) return String(n);
	return n < 1e6 ? `${(n / 1e3).toFixed(1)}k` : `${(n / 1e6).toFixed(1)}M`;
}

export const str = (v: unknown): string => (typeof v === "string" ? v : "");
export const num = (v: unknown): number | undefined => (typeof v === "number" && Number.isFinite(v) ? v : undefined);
export const obj = (v: unknown): Record<string, unknown> => (v !== null && typeof v === "object" && !Array.isArray(v) ? (v as Record<string, unknown>) : {});
export const list = (v: unknown): unknown[] => (Array.isArray(v) ? v : []);
