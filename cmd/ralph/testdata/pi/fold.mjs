// Feeds lines from stdin to the fold of pi's extension and prints what it shows, one unit per line.
//
//	node fold.mjs FOLDER-OF-THE-EXTENSION < LINES
import { readFileSync } from "node:fs";

const { Fold } = await import(`${process.argv[2]}/journal.ts`);
const fold = new Fold("demo", "", 0);
for (const line of readFileSync(0, "utf8").split("\n")) {
	for (const shown of fold.line(line)) console.log(JSON.stringify(shown));
	for (const live of fold.live()) console.log(JSON.stringify({ unit: { kind: "live", text: live } }));
}
