"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const words = data.words;
const byId = (id) => document.getElementById(id);

function make(tag, name, text) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text) made.textContent = text;
  return made;
}

// Text goes in as text only; a citation becomes a link to its source where the page has that.
function say(into, text) {
  for (const piece of text.split(/(\[\d+\.\d+(?:[,;]\s*\d+\.\d+)*\])/)) {
    const ids = /^\[\d/.test(piece) ? piece.match(/\d+\.\d+/g) : [];
    if (!ids.length || !ids.every((id) => byId("s-" + id))) { into.append(piece); continue; }
    for (const id of ids) {
      const link = make("a", "cite", "[" + id + "]");
      link.href = "#s-" + id;
      into.append(link);
    }
  }
  return into;
}

function line(text, state, sign, why) {
  const item = say(make("li", state), text);
  item.dataset.sign = sign;
  if (why) item.append(make("span", "why", why));
  return item;
}

function showFacts(moment) {
  const fresh = new Set(moment.added);
  const changed = new Map(moment.changed.map(([old, now]) => [now, old]));
  const facts = moment.facts.map((at) => {
    if (changed.has(at)) return line(data.lines[at], "changed", "~", words.was + " " + data.lines[changed.get(at)]);
    return line(data.lines[at], fresh.has(at) ? "added" : "", fresh.has(at) ? "+" : "");
  });
  const gone = moment.lost.map(([at, why]) => line(data.lines[at], "gone", "−", why));
  const disputes = moment.contradictions.map((at) => line(data.lines[at], "", "↔"));
  const gaps = moment.gaps.map((at) => line(data.lines[at], "quiet", "?"));
  byId("lines").replaceChildren(...facts, ...gone, ...disputes, ...gaps);
}

function showTable(moment) {
  const touched = new Set([...moment.added, ...moment.changed.map((pair) => pair[1])]);
  for (const cell of document.querySelectorAll("#table td")) {
    const held = moment.cells[cell.dataset.cell] || [];
    cell.className = held.length ? "" : "open";
    cell.replaceChildren(...(held.length ? held.map(([at, period, value]) => {
      const row = make("p", touched.has(at) ? "new" : "", value);
      if (period) row.append(" ", make("span", "period", period));
      return row;
    }) : ["—"]));
  }
}

function show(at) {
  const moment = data.moments[at];
  const name = words.round + " " + moment.round + (moment.kind === "round" ? "" : " · " + words[moment.kind]);
  byId("rounds").setAttribute("aria-valuetext", name);
  byId("where").textContent = name;
  byId("told").textContent = moment.told;
  showFacts(moment);
  showTable(moment);
}

function open() {
  const target = /^#s-\d+\.\d+$/.test(location.hash) && byId(location.hash.slice(1));
  if (!target) return;
  target.open = true;
  target.querySelector("summary").focus({ preventScroll: true });
  target.scrollIntoView({ block: "start" });
}

if (data.moments.length) {
  const slider = byId("rounds");
  slider.addEventListener("input", () => show(Number(slider.value)));
  // Print has the table as it stands at the end, whatever the slider shows.
  addEventListener("beforeprint", () => showTable(data.moments.at(-1)));
  addEventListener("afterprint", () => showTable(data.moments[Number(slider.value)]));
  show(Number(slider.value));
}
addEventListener("hashchange", open);
document.addEventListener("click", (event) => {
  const link = event.target.closest("a.cite");
  if (link && link.hash === location.hash) open();
});
open();
