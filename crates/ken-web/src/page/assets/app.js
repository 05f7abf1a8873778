// The page without this script is links and a form. With it, the same addresses are fetched as fragments and put in.
const root = document.documentElement;
root.classList.add("scripted");
const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

// HTML is made by ken's own server only, which escapes everything.
const policy = globalThis.trustedTypes?.createPolicy("ken", { createHTML: (text) => text }) ?? { createHTML: (text) => text };
const put = (element, text) => { element.innerHTML = policy.createHTML(text); };
function parsed(text) {
  const box = document.createElement("div");
  put(box, text);
  return box;
}

const field = $("#q");
const found = $("#found");
const preview = $("#preview");
const isWide = () => matchMedia("(min-width: 821px)").matches;

// Log-in: the token is behind the #, which browsers send to nobody.
const token = new URLSearchParams(location.hash.slice(1)).get("t");
if (token) {
  history.replaceState(null, "", location.pathname + location.search);
  const body = new URLSearchParams({ token });
  fetch("login", { method: "POST", body, redirect: "manual" }).then(() => location.replace(location.pathname + location.search));
}

let sayTimer;
function say(text) {
  const box = $("#said");
  if (!box) return;
  box.textContent = text;
  clearTimeout(sayTimer);
  sayTimer = setTimeout(() => { box.textContent = ""; }, 2500);
}

// A browser has six connections for a server. Small pictures give theirs up while something else is asked for.
let held = [];
function holdPictures() {
  for (const picture of $$("img.thumbnail[src]")) {
    if (picture.complete) continue;
    held.push([picture, picture.getAttribute("src")]);
    picture.removeAttribute("src");
  }
}
function showPictures() {
  for (const [picture, source] of held) if (picture.isConnected) picture.src = source;
  held = [];
}

// One request of a kind at a time: the newest.
const running = {};
async function fragment(kind, query) {
  running[kind]?.abort();
  holdPictures();
  stopAhead();
  const control = (running[kind] = new AbortController());
  const parameters = new URLSearchParams(query);
  parameters.set("fragment", kind);
  try {
    const answer = await fetch(`./?${parameters}`, { signal: control.signal, headers: { accept: "text/html" } });
    if (answer.status === 401) return location.reload();
    const text = await answer.text();
    return control.signal.aborted ? undefined : text;
  } catch (error) {
    if (error.name === "AbortError") return undefined;
    say("ken does not answer. Does ken serve run?");
    return undefined;
  } finally {
    if (running[kind] === control) {
      delete running[kind];
      if (!Object.keys(running).length) showPictures();
      root.classList.remove("busy");
    }
  }
}

let shownSearch = location.search;
async function showResults(pause = 0, search = location.search) {
  shownSearch = search;
  clearTimeout(filtersTimer);
  running.facets?.abort();
  const busy = setTimeout(() => root.classList.add("busy"), 150);
  const key = focusedKey(found);
  const text = await fragment("results", search);
  clearTimeout(busy);
  if (text === undefined) return;
  const next = parsed(text);
  const filters = $("#facets");
  if (filters && $("#facets", next)) {
    // Their addresses are those of the last query.
    filters.inert = true;
    $("#main").replaceWith($("#main", next));
  } else {
    found.replaceChildren(...next.childNodes);
  }
  settle();
  focusKey(key);
  markCurrent();
  if ($("#facets")) filtersTimer = setTimeout(() => showFilters(key), pause);
}

// Counting takes longer than finding, so the filters follow the hits, and while somebody types only at a pause.
const PAUSE = 150;
let filtersTimer;
async function showFilters(key) {
  const text = await fragment("facets", location.search);
  const next = text && $("#facets", parsed(text));
  const filters = $("#facets");
  if (!next || !filters) return;
  filters.replaceChildren(...next.childNodes);
  filters.inert = false;
  filters.removeAttribute("aria-busy");
  if (document.activeElement === document.body) focusKey(key);
}

const focusedKey = (box) => (box.contains(document.activeElement) ? document.activeElement.dataset.key : undefined);
function focusKey(key) {
  if (key) $(`[data-key="${CSS.escape(key)}"]`, found)?.focus({ preventScroll: true });
}

async function showPreview() {
  shownSearch = location.search;
  const parameters = new URLSearchParams(location.search);
  const id = parameters.get("doc");
  document.body.classList.toggle("with-preview", Boolean(id));
  markCurrent();
  if (!id) {
    running.preview?.abort();
    preview.replaceChildren();
    return;
  }
  const text = await fragment("preview", location.search);
  if (text === undefined) return;
  put(preview, text);
  ahead.clear();
  preview.scrollTop = 0;
  now = -1;
  if ($("#sheet[data-later]")) await turnTo(parameters.get("sheet"));
  const line = location.hash.slice(1) || (parameters.get("at") ? `L${parameters.get("at")}` : "");
  const target = line && document.getElementById(line);
  const sheet = $("#sheet[data-page]")?.dataset.page;
  const first = (target ? $("mark", target) : $(".text mark", preview)) ?? (sheet && marks().find((mark) => pageOf(mark) === Number(sheet)));
  if (first) goTo(marks().indexOf(first));
  else if (target) center(target);
}

function settle() {
  document.body.classList.toggle("at-home", Boolean($(".home", found)));
  document.title = field.value.trim() ? `${field.value.trim()} – ken` : "ken";
  showRecent();
}

function markCurrent() {
  const id = new URLSearchParams(location.search).get("doc");
  for (const hit of $$(".hit", found)) {
    if (hit.dataset.id === id) hit.setAttribute("aria-current", "true");
    else hit.removeAttribute("aria-current");
  }
}

// Typing replaces the address; what is chosen adds one, so that Back undoes it.
function type() {
  const parameters = new URLSearchParams(location.search);
  for (const name of ["page", "doc", "at", "sheet", "like"]) parameters.delete(name);
  parameters.delete("q");
  const text = field.value;
  const query = new URLSearchParams();
  if (text) query.set("q", text);
  for (const [name, value] of parameters) query.append(name, value);
  const search = query.size ? `?${query}` : "";
  // The request goes first: changing the address takes the browser milliseconds.
  showResults(PAUSE, search);
  history.replaceState(null, "", `./${search}`);
  document.body.classList.remove("with-preview");
  preview?.replaceChildren();
  rememberSoon();
}

function go(href, what) {
  const before = new URLSearchParams(location.search);
  history.pushState(null, "", href);
  const after = new URLSearchParams(location.search);
  field.value = after.get("q") ?? "";
  if (what !== "preview") showResults();
  if (what !== "results" || before.get("doc") !== after.get("doc")) showPreview();
  if (what === "results") scrollTo({ top: 0 });
  // What is chosen in the drawer closes it.
  if ($("#facets:target")) location.replace("#found");
}

// Queries that were typed and left standing, on this machine only.
const RECENT = "ken.recent";
const recent = () => { try { return JSON.parse(localStorage.getItem(RECENT)) ?? []; } catch { return []; } };
let rememberTimer;
function remember() {
  const query = field?.value.trim();
  if (!query || query.length < 3) return;
  const others = recent().filter((other) => other !== query && !query.startsWith(other));
  localStorage.setItem(RECENT, JSON.stringify([query, ...others].slice(0, 12)));
}
function rememberSoon() {
  clearTimeout(rememberTimer);
  rememberTimer = setTimeout(remember, 2500);
}
function showRecent() {
  const box = $("#recent");
  const queries = recent();
  if (!box || !queries.length) return;
  const items = queries.slice(0, 8).map((query) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = `./?${new URLSearchParams({ q: query })}`;
    link.dataset.go = "";
    link.textContent = query;
    item.append(link);
    return item;
  });
  $("ul", box).replaceChildren(...items);
  box.hidden = false;
}

// Brings something into the middle of the preview, which scrolls alone beside the list and with the page elsewhere.
function center(element) {
  const box = preview && getComputedStyle(preview).overflowY === "auto" ? preview : root;
  const top = box === root ? 0 : box.getBoundingClientRect().top;
  box.scrollTop += element.getBoundingClientRect().top - top - box.clientHeight / 2;
}

// The page of a document that is shown as a picture.
async function turnTo(page) {
  const parameters = new URLSearchParams(location.search);
  if (page) parameters.set("sheet", page);
  const text = ahead.get(String(page)) ? "" : await fragment("sheet", parameters);
  const next = ahead.get(String(page)) ?? (text && $("#sheet", parsed(text)));
  const holder = $("#sheet");
  if (text === undefined || !holder) return;
  if (next) {
    holder.replaceWith(next);
    lookAhead();
  } else {
    // What cannot be drawn is read.
    holder.remove();
    $(".as-text")?.setAttribute("open", "");
  }
}

// The pages beside the shown one, which are fetched and drawn before anybody asks. What is asked for goes first.
const ahead = new Map();
let aheadControl = new AbortController();
function stopAhead() {
  aheadControl.abort();
  for (const [page, sheet] of ahead) if (!$("img", sheet).complete) ahead.delete(page);
}
async function lookAhead() {
  aheadControl.abort();
  const control = (aheadControl = new AbortController());
  const links = $$("#sheet [data-sheet]");
  const pages = links.map((link) => new URL(link.href).searchParams.get("sheet"));
  for (const page of [...ahead.keys()]) if (!pages.includes(page)) ahead.delete(page);
  for (const link of links.reverse()) {
    const parameters = new URL(link.href).searchParams;
    if (ahead.has(parameters.get("sheet"))) continue;
    parameters.set("fragment", "sheet");
    try {
      const answer = await fetch(`./?${parameters}`, { signal: control.signal, priority: "low" });
      const sheet = answer.ok && $("#sheet", parsed(await answer.text()));
      if (control.signal.aborted) return;
      if (sheet) ahead.set(parameters.get("sheet"), sheet);
    } catch {
      return;
    }
  }
}
const pageOf = (mark) => $$(".text .page").filter((page) => page.compareDocumentPosition(mark) & 4).length || 1;
async function showOnSheet(mark) {
  const page = pageOf(mark);
  if ($("#sheet").dataset.page !== String(page)) await turnTo(page);
  const before = marks().filter((other) => pageOf(other) === page).indexOf(mark);
  const boxes = $$("#sheet rect");
  for (const box of boxes) box.classList.remove("now");
  const box = boxes[Math.min(before, boxes.length - 1)];
  box?.classList.add("now");
  center(box ?? $("#sheet"));
}

// Matches in the preview.
let now = -1;
const marks = () => $$(".text mark", document);
function goTo(number) {
  const all = marks();
  if (!all.length) return;
  now = (number + all.length) % all.length;
  $("mark.now")?.classList.remove("now");
  const mark = all[now];
  mark.classList.add("now");
  if ($("#sheet[data-page]") && !$(".as-text").open) {
    showOnSheet(mark);
  } else {
    for (let box = mark.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    center(mark);
  }
  return `Match ${now + 1} of ${all.length}`;
}
function step(by) {
  const text = goTo(now + by);
  if (text) say(text);
}

function shown() {
  return $(".doc") ?? undefined;
}
const currentHit = () => document.activeElement?.closest?.(".hit") ?? $(".hit[aria-current]", found ?? document);
function move(by) {
  const hits = $$(".hit", found ?? document);
  if (!hits.length) return;
  const at = hits.indexOf(currentHit());
  const next = hits[Math.max(0, Math.min(hits.length - 1, at < 0 ? (by > 0 ? 0 : hits.length - 1) : at + by))];
  const link = $(".title", next);
  link.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
  if (document.body.classList.contains("with-preview") && isWide()) {
    history.replaceState(null, "", link.href);
    showPreview();
  }
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied`);
  } catch {
    say("The browser did not let ken copy");
  }
}

async function post(route, body) {
  const answer = await fetch(route, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(said.error ?? answer.statusText);
  return said;
}

const target = () => shown()?.dataset ?? currentHit()?.dataset;
const actions = {
  path: () => target() && copy(target().path, "Path"),
  cite() {
    const data = shown()?.dataset;
    if (!data) return;
    const page = $$(".text .page", preview ?? document).filter((of) => of.compareDocumentPosition($("mark.now") ?? of) & 4).pop();
    const where = page ? `, ${page.dataset.label ?? page.textContent.toLowerCase()}` : "";
    copy(`“${data.title}”${where}, ${data.path}`, "Citation");
  },
  next: () => step(1),
  previous: () => step(-1),
  open: () => target() && post("open", { id: target().id }).then((did) => say(`The ${did.opened} opens`), (error) => say(error.message)),
  show: () => target() && post("open", { id: target().id, folder: true }).then(() => say("The folder opens"), (error) => say(error.message)),
  pause: () => post("api/v1/pause", {}).then(() => location.reload(), (error) => say(error.message)),
  resume: () => post("api/v1/resume", {}).then(() => location.reload(), (error) => say(error.message)),
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-do]");
  if (button) {
    event.preventDefault();
    actions[button.dataset.do]?.();
    return;
  }
  const link = event.target.closest("a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  if (link.id === "help") {
    event.preventDefault();
    $("#keys").showModal();
  } else if (link.id === "close" && preview) {
    event.preventDefault();
    closePreview();
  } else if (link.dataset.place !== undefined) {
    const line = document.getElementById(link.dataset.place);
    const mark = line && $("mark", line);
    if (mark) {
      event.preventDefault();
      goTo(marks().indexOf(mark));
    } else if (line) {
      event.preventDefault();
      center(line);
    } else if (preview) {
      event.preventDefault();
      go(link.href, "preview");
    }
  } else if (link.dataset.show !== undefined && preview) {
    event.preventDefault();
    remember();
    go(link.href, "preview");
  } else if (link.dataset.sheet !== undefined) {
    event.preventDefault();
    turnTo(new URL(link.href).searchParams.get("sheet"));
  } else if (link.dataset.go !== undefined && found) {
    event.preventDefault();
    go(link.href, "results");
  }
});

// Menus close when something else is clicked.
document.addEventListener("click", (event) => {
  for (const menu of $$(".menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});

function closePreview() {
  const id = shown()?.dataset.id;
  const parameters = new URLSearchParams(location.search);
  parameters.delete("doc");
  parameters.delete("at");
  parameters.delete("sheet");
  go(`./?${parameters}`, "preview");
  const hit = id && $(`.hit[data-id="${CSS.escape(id)}"] .title`, found);
  hit?.focus();
}

if (found) {
  field.addEventListener("input", type);
  $("#search").addEventListener("submit", (event) => {
    event.preventDefault();
    remember();
    $(".hit .title", found)?.focus();
  });
  addEventListener("popstate", () => {
    // A step to another part of the same page.
    if (location.search === shownSearch) return;
    field.value = new URLSearchParams(location.search).get("q") ?? "";
    showResults();
    showPreview();
  });
  showRecent();
  if (shown()) showPreview();
  else if (field.value) field.setSelectionRange(field.value.length, field.value.length);
} else if (shown()) {
  const first = $(".text mark");
  if (first && !location.hash) goTo(0);
}

// The status page says at once what changes.
const progress = $("#progress strong");
if (progress) {
  new EventSource("api/v1/events").addEventListener("freshness", (event) => {
    const { waits, pending, complete_seconds_ago: seconds, run } = JSON.parse(event.data);
    showRun(run);
    if (waits) progress.textContent = `changes wait: ${waits}`;
    else if (pending) progress.textContent = `${pending} changes on their way`;
    else if (seconds !== null) progress.textContent = "up to date";
  });
}

function showRun(run) {
  const grouped = (number) => number.toLocaleString("en");
  const box = $("#run");
  const isReading = run?.walked && run.files_to_do > 0;
  box.hidden = !run || (run.walked && !isReading);
  if (box.hidden) return;
  const bar = $("progress", box);
  if (isReading) bar.value = Math.floor((1000 * run.bytes_done) / Math.max(run.bytes_to_do, 1));
  else bar.removeAttribute("value");
  $("#run-text").textContent = isReading ? `${grouped(run.files_done)} of ${grouped(run.files_to_do)} files read` : `${grouped(run.files_found)} files found`;
}

function toggleFacets() {
  if (isWide() && !document.body.classList.contains("with-preview")) {
    $("#facets a[data-go]")?.focus();
  } else {
    location.hash = location.hash === "#facets" ? "found" : "facets";
    $("#facets a")?.focus();
  }
}

const keys = {
  "/": () => { field.focus(); field.select(); },
  j: () => move(1),
  k: () => move(-1),
  n: () => step(1),
  N: () => step(-1),
  o: actions.open,
  y: actions.path,
  f: toggleFacets,
  t: () => $(`#as-${$("#as-table")?.hasAttribute("aria-current") ? "list" : "table"}`)?.click(),
  "?": () => $("#keys")?.showModal(),
  Escape: () => {
    if (location.hash === "#facets") location.hash = "found";
    else if (found && shown()) closePreview();
    else field?.focus();
  },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const inField = event.target.matches?.("input, textarea, select");
  if ($("dialog[open]")) return;
  if (inField) {
    if (event.target === field && event.key === "ArrowDown" && $(".hit", found ?? document)) {
      event.preventDefault();
      $(".hit .title").focus();
    } else if (event.target === field && event.key === "Escape" && field.value === "") {
      field.blur();
    }
    return;
  }
  const isHit = event.target.closest?.(".hit");
  if (event.key === "Enter" && isHit && isHit.hasAttribute("aria-current") && shown() && event.target.matches(".title")) {
    event.preventDefault();
    $("#preview-title")?.focus();
    return;
  }
  if (isHit && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    if (event.key === "ArrowUp" && $(".hit", found) === isHit) field.focus();
    else move(event.key === "ArrowDown" ? 1 : -1);
    return;
  }
  const act = keys[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
});
