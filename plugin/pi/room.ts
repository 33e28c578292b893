// How much of loops one session of pi shows. pi keeps every entry of a session in memory and goes
// through all of them for each key, so that a loop which never ends would slow it down for ever.

const entriesMax = 15_000;
const charactersMax = 32 * 1024 * 1024;

export class Room {
	private entries = 0;
	private characters = 0;

	/** full reports that no more is to be shown. It never becomes false again: what is shown has no gaps. */
	get full(): boolean {
		return this.entries >= entriesMax || this.characters >= charactersMax;
	}

	/** take counts something that is shown. */
	take(shown: unknown): void {
		this.entries++;
		this.characters += JSON.stringify(shown).length;
	}
}
