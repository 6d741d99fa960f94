"use strict";
(() => {
const all = (where, what) => [...where.querySelectorAll(what)];
const spoken = document.querySelector(".spoken");
const compilations = all(document, ".compilation");

/* One compilation is shown: the one that the address names, or the first. */
function show() {
  const wanted = compilations.find(each => "#" + each.id === location.hash) || compilations[0];
  for (const each of compilations) each.hidden = each !== wanted;
  for (const link of all(document, "nav a")) {
    const here = wanted !== undefined && link.hash === "#" + wanted.id;
    link.closest("tr").classList.toggle("here", here);
    if (here) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
  }
  return wanted;
}
addEventListener("hashchange", () => { const wanted = show(); if (wanted) wanted.querySelector("h2").focus(); });

/* Tabs: arrows go from one to the next. */
function choose(tab, focus) {
  const list = tab.parentElement;
  for (const each of all(list, "[role=tab]")) {
    const chosen = each === tab;
    each.setAttribute("aria-selected", chosen);
    each.tabIndex = chosen ? 0 : -1;
    document.getElementById(each.getAttribute("aria-controls")).hidden = !chosen;
  }
  if (focus) tab.focus();
  for (const box of all(list.parentElement, ".drawing"))
    if (!box.scrollLeft) box.scrollLeft = (box.scrollWidth - box.clientWidth) / 2;
  reveal(document.getElementById(tab.getAttribute("aria-controls")));
}
function onTabKey(event) {
  const tabs = all(event.currentTarget, "[role=tab]");
  const to = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const at = tabs.indexOf(document.activeElement);
  let next = to ? (at + to + tabs.length) % tabs.length : -1;
  if (event.key === "Home") next = 0;
  if (event.key === "End") next = tabs.length - 1;
  if (next >= 0) { event.preventDefault(); choose(tabs[next], true); }
}

/* Lines that belong together: each element names the lines of the program that it is for. */
const numbers = element => element.dataset.p.split(" ");
function index(compilation) {
  if (!compilation.marked) {
    compilation.marked = new Map();
    for (const element of all(compilation, "[data-p]"))
      for (const number of numbers(element)) {
        if (!compilation.marked.has(number)) compilation.marked.set(number, []);
        compilation.marked.get(number).push(element);
      }
  }
  return compilation.marked;
}
function mark(compilation, kind, wanted) {
  for (const element of all(compilation, "." + kind)) element.classList.remove(kind);
  for (const number of wanted)
    for (const element of index(compilation).get(number) || []) element.classList.add(kind);
}
function count(compilation) {
  const told = [];
  for (const tab of all(compilation, "[role=tab]")) {
    const panel = document.getElementById(tab.getAttribute("aria-controls"));
    const found = panel.querySelectorAll(".pin").length;
    tab.querySelector(".count").textContent = found || "";
    if (found) told.push(`${found} in ${tab.firstChild.textContent}`);
  }
  return told;
}
/* Scroll boxes inside of an element, not the page, to their first pinned line. */
function reveal(element) {
  for (const box of all(element, ".code, .drawing")) {
    const first = box.querySelector(".pin");
    if (!first) continue;
    const line = first.getBoundingClientRect(), frame = box.getBoundingClientRect();
    if (line.top < frame.top || line.bottom > frame.bottom)
      box.scrollTop += line.top - frame.top - frame.height / 3;
    if (box.className === "drawing" && (line.left < frame.left || line.right > frame.right))
      box.scrollLeft += line.left - frame.left - frame.width / 3;
  }
}
function pin(compilation, element) {
  const again = element && element.classList.contains("pin") && compilation.pinned === element;
  compilation.pinned = again ? null : element;
  mark(compilation, "hot", []);
  mark(compilation, "pin", compilation.pinned ? numbers(element) : []);
  const told = count(compilation);
  spoken.textContent = compilation.pinned ? "Marked: " + (told.join(", ") || "nothing") : "Nothing is marked";
  if (compilation.pinned) reveal(compilation);
}
/* In a box of code, arrows go to the next line that belongs to the program. */
function onCodeKey(event) {
  const box = event.currentTarget, compilation = box.closest(".compilation");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    const lines = all(box, ":scope > [data-p]");
    if (!lines.length) return;
    const at = lines.indexOf(box.at);
    const next = lines[Math.min(Math.max(at + step, 0), lines.length - 1)];
    if (box.at) box.at.classList.remove("at");
    box.at = next;
    next.classList.add("at");
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
    mark(compilation, "hot", numbers(next));
    spoken.textContent = next.textContent;
    event.preventDefault();
  } else if ((event.key === "Enter" || event.key === " ") && box.at) {
    pin(compilation, box.at);
    event.preventDefault();
  }
}

for (const compilation of compilations) {
  const marked = event => event.target.closest("[data-p]");
  compilation.addEventListener("mouseover", event => {
    const element = marked(event);
    mark(compilation, "hot", element ? numbers(element) : []);
  });
  compilation.addEventListener("mouseleave", () => mark(compilation, "hot", []));
  compilation.addEventListener("click", event => {
    const element = marked(event);
    if (element && !getSelection().toString()) pin(compilation, element);
  });
  for (const list of all(compilation, "[role=tablist]")) {
    list.addEventListener("keydown", onTabKey);
    for (const tab of all(list, "[role=tab]")) tab.addEventListener("click", () => choose(tab, false));
    choose(list.querySelector("[role=tab]"), false);
  }
  for (const box of all(compilation, ".pair .code, .drawing")) {
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", box.className === "drawing" ? "Drawing" : "Code: arrows go to lines of the program, Enter marks what belongs together");
    if (box.className !== "drawing") {
      box.addEventListener("keydown", onCodeKey);
      box.addEventListener("blur", () => { if (box.at) box.at.classList.remove("at"); mark(compilation, "hot", []); });
    }
  }
}
addEventListener("keydown", event => {
  if (event.key === "Escape") for (const each of compilations) if (each.pinned) pin(each, null);
});
show();
})();
