// Shows the sale that the server streams (GET /sales/events) and starts the next one (POST /sales).

const $ = (id) => document.getElementById(id);
const form = $("start");
const LONGEST_PAUSE = 30; // seconds
const still = matchMedia("(prefers-reduced-motion: reduce)");
const LABELS = { none: "no lock", inside: "lock inside the transaction", holdfast: "Holdfast", paused: "Holdfast with a paused holder" };

let own;        // the name of the instance that this page comes from
let sale;       // the latest sale, or null
let buyers;     // what is known of each buyer, by instance and number
let stock;      // the stock that was committed last
let written;    // the stocks that were committed
let counts;

function reset(state) {
	own = state.instance;
	sale = state.sale;
	buyers = new Map();
	counts = { sold: 0, refused: 0, failure: null };
	written = new Set();
	stock = sale ? sale.stock : 0;
	document.querySelectorAll(".lane ol, #tokens").forEach((list) => list.replaceChildren());
	document.body.dataset.sale = sale ? sale.mode : "";
	document.body.dataset.number = sale ? sale.id : 0;
	$("twice").hidden = true;
	$("newest").textContent = "No token yet.";
	showInstances();
	if (sale) {
		tell("running", `The sale is on: ${sale.buyers} buyers, ${LABELS[sale.mode]}.`);
		add(state.events);
	}
	if (state.result) {
		end(state.result);
	}
}

function add(events) {
	const before = positions();
	events.forEach(apply);
	showNumbers({ sold: counts.sold, stock, shouldBe: sale.stock - counts.sold, refused: counts.refused });
	document.querySelectorAll(".lane").forEach((lane) => {
		lane.querySelector(".count").textContent = lane.querySelector("ol").children.length;
	});
	glide(before);
}

// Each step of a buyer: the list that it moves to, and what its chip says.
const STEPS = {
	waits: () => ["waiting", ""],
	acquired: (buyer, event) => {
		buyer.token = event.token;
		grant(buyer, event.token);
		return ["holding", ""];
	},
	read: (buyer, event) => [buyer.token && !buyer.left ? "holding" : "exposed", `reads ${event.stock}`],
	paused: () => ["holding", "paused"],
	lost: (buyer) => leave(buyer, "lease expired"),
	wrote: (buyer, event) => {
		buyer.wrote = event.stock;
		return [buyer.list, `writes ${event.stock}`];
	},
	released: (buyer) => leave(buyer, `wrote ${buyer.wrote}`),
	sold: (buyer) => {
		counts.sold++;
		stock = buyer.wrote;
		buyer.chip.classList.toggle("overwrote", written.has(stock));
		$("twice").hidden &&= !written.has(stock);
		written.add(stock);
		return ["done", `${stock}`];
	},
	refused: (buyer) => {
		counts.refused++;
		document.querySelector(`#tokens [data-token="${buyer.token}"]`)?.classList.add("stale");
		return ["refusal", buyer.wrote === undefined ? "refused" : `not ${buyer.wrote}`];
	},
	failed: (buyer, event) => {
		counts.failure = event.detail;
		return ["refusal", "failed"];
	},
};

function leave(buyer, text) {
	buyer.left = true;
	return ["exposed", text];
}

function apply(event) {
	const key = `${event.instance}/${event.buyer}`;
	const known = buyers.has(key);
	const buyer = known ? buyers.get(key) : { chip: chip(event), instance: event.instance, number: event.buyer };
	if (!known) {
		buyers.set(key, buyer);
		showInstances();
	}
	const [list, text] = STEPS[event.step](buyer, event);
	buyer.chip.querySelector(".what").textContent = text;
	buyer.chip.dataset.step = event.step;
	if (buyer.list !== list) {
		buyer.list = list;
		$(list).append(buyer.chip);
	}
}

function chip(event) {
	const item = document.createElement("li");
	item.className = event.instance === own ? "chip" : "chip other";
	item.dataset.buyer = `${event.instance}/${event.buyer}`;
	item.innerHTML = '<span class="hidden">Buyer </span><span class="who"></span> <span class="what"></span>';
	item.querySelector(".who").textContent = event.buyer;
	return item;
}

function grant(buyer, token) {
	const step = document.createElement("li");
	step.dataset.token = token;
	step.innerHTML = '<span class="hidden"></span>';
	step.firstChild.textContent = `${token}, buyer ${buyer.number}`;
	// events of another instance arrive a little later, so the position is that of the token
	const greater = [...$("tokens").children].find((each) => BigInt(each.dataset.token) > BigInt(token));
	$("tokens").insertBefore(step, greater ?? null);
	const steps = [...$("tokens").children];
	steps.forEach((each, index) => each.style.setProperty("--height", (index + 1) / steps.length));
	$("newest").textContent = `Newest: ${steps.at(-1).textContent}.`;
}

function showInstances() {
	const others = [...new Set([...buyers.values()].map((buyer) => buyer.instance))].filter((name) => name !== own);
	$("about").textContent = sale ? `· ${LABELS[sale.mode]}${sale.mode === "none" ? "" : `, store ${sale.store}`}, ${sale.buyers} buyers`
		+ (others.length > 0 ? " of each instance" : "") : "";
	$("legend").hidden = others.length === 0;
	$("legend").innerHTML = '<span class="sample"></span> <span></span> <span class="sample other"></span> <span></span>';
	$("legend").children[1].textContent = `buyers of this instance (${port(own)})`;
	$("legend").children[3].textContent = `buyers of another instance (${others.map(port).join(", ")})`;
}

function port(instance) {
	return instance.split("-")[0];
}

function showNumbers(numbers) {
	const lost = numbers.stock - numbers.shouldBe;
	$("sold").textContent = numbers.sold;
	$("should-be").textContent = numbers.shouldBe;
	$("stock").textContent = numbers.stock;
	$("lost").textContent = lost;
	$("refused").textContent = numbers.refused;
	$("numbers").classList.toggle("wrong", lost > 0);
	$("numbers").classList.toggle("refusing", numbers.refused > 0);
	width("bar-should-be", numbers.shouldBe);
	width("bar-stock", numbers.stock - Math.max(0, lost));
	width("bar-lost", Math.max(0, lost));
}

function width(bar, pieces) {
	$(bar).style.inlineSize = `${100 * pieces / sale.stock}%`;
}

function end(result) {
	showNumbers(result);
	$("source").textContent = "These numbers were read from the database after the sale.";
	if (result.tokensGrew) {
		$("newest").textContent += " In the database, each order has a greater token than the order before.";
	}
	tell(result.lost > 0 || result.sold === 0 ? "bad" : "good", verdict(result) + failures(result));
}

function verdict({ sold, lost, refused }) {
	if (sold === 0) {
		return "Nothing was sold.";
	}
	const sales = `${lost} of ${sold} sales were lost.`;
	if (sale.mode === "none") {
		return lost > 0 ? `${sales} Without a lock, buyers read the same stock and overwrote each other.`
			: "No sale was lost, by luck. Start again, with more buyers.";
	}
	if (sale.mode === "inside") {
		return lost > 0 ? `${sales} The lock was free before the commit, so the next buyer read the old stock.`
			: "No sale was lost, by luck. Start again, with more buyers.";
	}
	if (lost > 0) {
		return `${sales} The store ${sale.store} does not exclude the buyers of another instance. Choose one that both use.`;
	}
	return refused > 0
		? "No sale was lost. A buyer paused for longer than its lease, others went on, and its late commit was refused."
		: `No sale was lost. ${sold} buyers held the lock one after another, and each read what the one before had committed.`;
}

function failures({ failed }) {
	return failed > 0 ? ` ${failed} buyers ordered nothing: ${counts.failure}` : "";
}

function tell(outcome, text) {
	$("verdict").className = outcome;
	$("verdict").textContent = text;
	$("go").setAttribute("aria-disabled", outcome === "running");
	if (outcome === "running") {
		$("notice").textContent = "";
		$("source").textContent = "Counted from the events so far.";
	}
}

// A chip glides from its old position to the new one, unless the reader asked for less motion.
function positions() {
	return still.matches ? new Map()
		: new Map([...document.querySelectorAll(".chip")].map((each) => [each, each.getBoundingClientRect()]));
}

function glide(before) {
	before.forEach((old, each) => {
		const now = each.getBoundingClientRect();
		const [x, y] = [old.left - now.left, old.top - now.top];
		if (x || y) {
			each.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], { duration: 240, easing: "ease-out" });
		}
	});
}

function showMode() {
	const mode = form.elements.mode.value;
	document.querySelectorAll(".code [data-mode]").forEach((each) => (each.hidden = each.dataset.mode !== mode));
}

async function start() {
	$("notice").textContent = "";
	if (innerWidth < 768) {
		$("stage-title").scrollIntoView(); // on a phone, the sale is below the form
	}
	try {
		const response = await fetch("sales", { method: "POST", body: new URLSearchParams(new FormData(form)) });
		if (!response.ok) {
			$("notice").textContent = (await response.json()).detail;
		}
	} catch {
		$("notice").textContent = "The server does not answer. Is it running?";
	}
}

// A browser repeats a request for events after a lost connection, but not after an answer such as 503.
function watch(pause = 1) {
	const source = new EventSource("sales/events");
	const on = (name, show) => source.addEventListener(name, (message) => show(JSON.parse(message.data)));
	on("state", (state) => {
		pause = 1;
		$("notice").textContent = "";
		reset(state);
	});
	on("events", add);
	on("result", end);
	source.onerror = () => {
		if (source.readyState !== EventSource.CLOSED) {
			$("notice").textContent = "The connection to the server is lost. The page reconnects by itself.";
			return;
		}
		$("notice").textContent = `The server sends no events: too many pages watch, or it is stopping. The page asks again in ${pause} s.`;
		setTimeout(() => watch(Math.min(2 * pause, LONGEST_PAUSE)), 1000 * pause);
	};
}

async function showOptions() {
	const options = await (await fetch("sales/options")).json();
	$("store").replaceChildren(...options.stores.map((name) => new Option(name, name)));
	$("buyers").min = options.fewestBuyers;
	$("buyers").max = options.mostBuyers;
}

document.querySelectorAll(".code pre").forEach((block) => {
	block.innerHTML = block.innerHTML.replace(/\/\/.*/g, '<span class="comment">$&</span>')
		.replace(/@\w+/g, '<span class="annotation">$&</span>');
});
form.addEventListener("change", showMode);
form.addEventListener("submit", (event) => {
	event.preventDefault();
	start();
});
showMode();
showOptions();
watch();
