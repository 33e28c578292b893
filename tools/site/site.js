// Search: the index is loaded when the field gets the focus, and searched as one types. A page from a
// disk may run a script beside it but not read a file, so the index is a script that calls
// searchIndex.
"use strict";

const form = document.getElementById("site-search");
const query = document.getElementById("site-query");
const found = document.getElementById("site-found");
const root = document.documentElement.dataset.root;
const most = 12, mostOfPage = 3;
const later = new Set(["Decisions", "Project", "Changes"]); // found after all else
let index, loading;

globalThis.searchIndex = given => {
	index = given;
	index.lines = index.words.split("\n");
	search();
};

function load() {
	if (loading) return;
	loading = document.createElement("script");
	loading.src = root + "search-index.js";
	loading.onerror = () => show("The search index cannot be loaded.", []);
	document.head.append(loading);
}

// first is the number of the first line that is not before a word.
function first(word) {
	let low = 0, high = index.lines.length - 1;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (index.lines[middle] < word) low = middle + 1;
		else high = middle;
	}
	return low;
}

// sectionsOf maps the sections that have a word, or one that begins with it, to how well it fits.
function sectionsOf(word) {
	const fits = new Map();
	for (let i = first(word); i < index.lines.length && index.lines[i].startsWith(word); i++) {
		const [whole, ...steps] = index.lines[i].split(" ");
		const fit = whole === word ? 3 : 1;
		let at = 0;
		for (const step of steps) {
			at += parseInt(step, 36);
			fits.set(at, Math.max(fit, fits.get(at) ?? 0));
		}
	}
	return fits;
}

function search() {
	const words = (query.value.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter(word => !index?.stop.includes(word));
	if (!words.length) return hide();
	if (!index) return load();
	let hits;
	for (const word of words) {
		const fits = sectionsOf(word);
		const next = new Map();
		for (const [at, fit] of fits) {
			if (!hits || hits.has(at)) next.set(at, fit + (hits?.get(at) ?? 0));
		}
		hits = next;
	}
	const scored = [...hits].map(([at, fit]) => {
		const [page, , title] = index.sections[at], [, pageTitle, shelf] = index.pages[page];
		for (const word of words) {
			fit += (title.toLowerCase().includes(word) ? 6 : 0) + (pageTitle.toLowerCase().includes(word) ? 4 : 0);
		}
		return [fit + (later.has(shelf) ? -8 : shelf === "Guides" ? 2 : 0), at];
	}).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
	const ofPage = new Map();
	const best = scored.map(([, at]) => index.sections[at]).filter(([page]) => {
		ofPage.set(page, (ofPage.get(page) ?? 0) + 1);
		return ofPage.get(page) <= mostOfPage;
	}).slice(0, most);
	show(best.length ? "" : "Nothing is found.", best);
}

function show(text, sections) {
	found.querySelector("p").textContent = text;
	found.querySelector("ol").replaceChildren(...sections.map(([page, anchor, title]) => {
		const [address, pageTitle, shelf] = index.pages[page];
		const item = document.createElement("li"), link = document.createElement("a"), where = document.createElement("small");
		link.href = root + address + "#" + anchor;
		link.textContent = title;
		where.textContent = [shelf, title === pageTitle ? "" : pageTitle].filter(Boolean).join(" › ");
		link.append(where);
		item.append(link);
		return item;
	}));
	found.hidden = false;
}

function hide() {
	found.hidden = true;
}

// step moves the focus from the field through the results, and back.
function step(by) {
	const stops = [query, ...found.querySelectorAll("a")];
	const next = stops.indexOf(document.activeElement) + by;
	stops[Math.min(Math.max(next, 0), stops.length - 1)].focus();
}

form.hidden = false;
query.addEventListener("focus", load);
query.addEventListener("input", search);
form.addEventListener("submit", event => {
	event.preventDefault();
	found.querySelector("a")?.click();
});
form.addEventListener("keydown", event => {
	if (event.key === "Escape") {
		hide();
		query.focus();
	} else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
		event.preventDefault();
		step(event.key === "ArrowDown" ? 1 : -1);
	}
});
found.addEventListener("click", event => {
	if (event.target.closest("a")) hide(); // also where it leads to this page
});
document.addEventListener("click", event => {
	if (!form.contains(event.target)) hide();
});
document.addEventListener("keydown", event => {
	if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && event.target !== query) {
		event.preventDefault();
		query.focus();
	}
});

const headings = document.querySelector(".headings");
if (headings && matchMedia("(min-width: 75rem)").matches) headings.open = true;

// The contents of a wide screen begin at this page.
const current = document.querySelector("#site-contents [aria-current]");
const contents = document.getElementById("site-contents");
if (current && getComputedStyle(contents).overflowY === "auto") contents.scrollTop = current.offsetTop - contents.clientHeight / 3;
