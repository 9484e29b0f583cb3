// The map of a release: two layers side by side, painted by WebGL2 or on a canvas; values, areas, legends and a table.
import { Areas } from "./areas.js";
import { Borders } from "./borders.js";
import { CanvasPainter } from "./canvas.js";
import { Cells, largestDifference } from "./cells.js";
import { listen } from "./hands.js";
import { drawLegend } from "./legend.js";
import { Overlay } from "./overlay.js";
import { Places } from "./places.js";
import { CERTAINTY, DIFFERENCE, ERROR, errorOf, MODES, paintOf, paletteBytes, TRUTH } from "./shading.js";
import { fillTable, largestAreas, largestInView } from "./table.js";
import { View } from "./view.js";
import { WebglPainter } from "./webgl.js";

const MAX_RATIO = 2;
const root = document.getElementById("map");
const about = JSON.parse(root.dataset.about);
const words = JSON.parse(root.dataset.words);
const language = document.documentElement.lang;
const part = (name) => document.getElementById(`map-${name}`);
const dark = matchMedia("(prefers-color-scheme: dark)");
const places = new Places(about, words, language);
const view = new View(about);
const surface = part("view");
const overlay = new Overlay(part("overlay"), places, about);
const state = { shapes: null, released: null, truth: null, chosen: null, cross: false, pointer: null, borders: null };
let [painter, palette, ratio, waiting] = [null, null, 1, false];

const mode = (side) => MODES[part(side).value] ?? null;
const isSecret = (kind) => kind === TRUTH || kind === DIFFERENCE;
const fixed = () => new FormData(part("choices"));
const knownErrors = () => {
  const chosen = [...fixed()].filter(([name, value]) => name.startsWith("slice-") && value !== "");
  const { each, all } = about.errors;
  if (!chosen.length) return all;
  if (chosen.length === document.querySelectorAll("#map-choices [name^=slice-]").length) return each;
  return all.map(([side, error], at) => [side, Math.max(error, each[at]?.[1] ?? error)]);
};
const halfOf = (cells) => {
  const error = errorOf(knownErrors(), cells * about.block ** 2);
  return error === null ? null : CERTAINTY * error;
};

const kept = new Map();
function paintFor(kind) {
  const { released, truth } = state;
  const level = view.level;
  const key = `${kind} ${level}`;
  if (!kept.has(key))
    kept.set(key, kind === DIFFERENCE ? (truth ? largestDifference(released, truth, level) : 1)
      : kind === ERROR ? 100 : Math.max(released.most(level), truth ? truth.most(level) : 0));
  return paintOf(kind, kept.get(key), part("logarithmic").checked, halfOf(4 ** level));
}

function draw() {
  waiting = false;
  if (!state.released) return;
  const [first, right] = [mode("first"), mode("second")];
  const second = right ?? first;
  const split = right === null ? view.width : (view.width * Number(part("swipe").value)) / 100;
  const size = { width: surface.firstElementChild.width, height: surface.firstElementChild.height };
  painter.paint({ ...view.frame(ratio), ...size, split: split * ratio, first: paintFor(first), second: paintFor(second) });
  const marked = [[first, 0, split], [second, split, view.width]].filter(([kind, from, to]) => isSecret(kind) && to > from);
  overlay.paint({
    onto: painter.context ?? null, view, ratio, split, colours: colours(), hasTwo: right !== null, watermark: words.watermark,
    marked: marked.map(([, from, to]) => [from, to]), chosen: state.chosen, cross: state.cross,
    borders: part("borders")?.checked ? state.borders : null,
  });
  root.classList.toggle("secret", marked.length > 0);
  part("mark").hidden = marked.length === 0;
  if (!root.dataset.painted) {
    root.dataset.painted = String(Math.round(performance.now()));
    performance.mark("map-painted");
  }
  root.dataset.frames = String(Number(root.dataset.frames ?? 0) + 1);
}

// Once a frame, however often something changes; what is written follows when the map has come to rest.
let resting;
function changed() {
  if (!waiting) { waiting = true; requestAnimationFrame(draw); }
  clearTimeout(resting);
  resting = setTimeout(tell, 150);
}

let looks = null;
function colours() {
  if (looks) return looks;
  const style = getComputedStyle(root);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  looks = { ground: of("paper"), ink: of("ink"), accent: of("accent"), field: of("field"), warning: of("warning"), font: style.fontFamily };
  return looks;
}

function tell() {
  if (!state.released) return;
  const isTwo = mode("second") !== null;
  legends(isTwo);
  const kind = mode("first");
  const paint = paintFor(kind);
  const half = halfOf(4 ** view.level);
  const square = places.length(2 ** view.level * about.block);
  part("square").textContent = about.areas ? words.areas : words.square.replace("{length}", square);
  const found = about.areas ? largestAreas(paint, state.released, state.truth) : largestInView(view, paint, state.released, state.truth);
  const title = (about.areas ? words.table_areas : words.table).replace("{layer}", words[`layer_${part("first").value}`]);
  const caption = `${title.replace("{length}", square)}${isSecret(kind) ? ` — ${words.watermark}` : ""}`;
  fillTable(part("table"), caption, found.map(({ row, column, area, amount, published }) => [
    about.areas ? about.areas[area] : places.name(view.level, row, column), shown(kind, amount), isSecret(kind) ? "" : interval(published, half),
  ]));
  if (state.chosen) tellChosen();
  root.dataset.level = String(view.level);
}

function legends(isTwo) {
  for (const side of ["first", "second"]) {
    const kind = mode(side);
    part(`legend-${side}`).hidden = kind === null;
    if (kind === null) continue;
    const title = words[`layer_${part(side).value}`] + (isTwo ? ` (${words[side]})` : "");
    drawLegend(part(`legend-${side}`), { paint: paintFor(kind), title, palette, steps: about.steps, hasNegative: about.signed, number: (value) => places.number(value) });
  }
}

function shown(kind, amount) {
  if (kind === ERROR) return amount >= 100 ? words.all_of_it : `± ${places.number(amount)} %`;
  const sign = kind === DIFFERENCE && amount > 0 ? "+" : "";
  return sign + places.number(amount).replace("-", "−");
}

function interval(value, half) {
  if (half === null) return "";
  const low = about.signed ? value - half : Math.max(value - half, 0);
  return `${places.number(Math.floor(low)).replace("-", "−")} – ${places.number(Math.ceil(value + half))}`;
}

function describe(square) {
  const level = view.level;
  const area = about.areas ? state.released.areaAt(level, square.row, square.column) : 0;
  if (about.areas && !area) return words.outside;
  const name = about.areas ? about.areas[area - 1] : places.name(level, square.row, square.column);
  const released = state.released.value(level, square.row, square.column);
  const truth = state.truth?.value(level, square.row, square.column);
  const half = halfOf(4 ** level);
  const said = [`${name}: ${places.number(released).replace("-", "−")}`];
  if (half !== null) said.push(words.interval.replace("{interval}", interval(released, half)));
  if (truth !== undefined && [mode("first"), mode("second")].some(isSecret)) {
    said.push(`${words.layer_truth}: ${places.number(truth)}`);
    said.push(`${words.layer_difference}: ${shown(DIFFERENCE, released - truth)}`);
  }
  return said.join(words.between);
}

function pointed(x, y) {
  if (!state.released) return;
  const square = view.squareAt(x, y);
  part("value").textContent = square ? describe(square) : words.outside;
}

function tellCross() {
  const square = view.squareAt(view.width / 2, view.height / 2);
  const text = square ? describe(square) : words.outside;
  part("value").textContent = text;
  part("said").textContent = text;
}

let speaking;
function moved() {
  state.cross = true;
  changed();
  clearTimeout(speaking);
  speaking = setTimeout(tellCross, 120);
}

// Of a map of areas, the one at a place; nothing where there is none.
function chooseArea(square) {
  const area = square ? state.released.areaAt(view.level, square.row, square.column) : 0;
  if (area) state.chosen = { area };
  changed();
}

function choose(from, to) {
  if (about.areas) { chooseArea(view.squareAt(...to)); return; }
  const level = view.level;
  const ends = [from, to].map(([x, y]) => {
    const [column, row] = view.cellAt(x, y);
    const within = (cell, cells) => Math.floor(Math.min(Math.max(cell, 0), cells - 1) / 2 ** level);
    return [within(row, view.rows), within(column, view.columns)];
  });
  const [rows, columns] = [ends.map(([row]) => row), ends.map(([, column]) => column)];
  state.chosen = { level, south: Math.min(...rows), north: Math.max(...rows), west: Math.min(...columns), east: Math.max(...columns) };
  changed();
}

// By keys: the square under the crosshair, and one more row or column in the way of each arrow.
function grew(right, up) {
  const square = view.squareAt(view.width / 2, view.height / 2);
  if (about.areas) { state.cross = true; chooseArea(square); return; }
  if (!state.chosen && !square) return;
  const level = view.level;
  const old = state.chosen?.level === level ? state.chosen : null;
  const area = old ?? { level, south: square?.row ?? 0, north: square?.row ?? 0, west: square?.column ?? 0, east: square?.column ?? 0 };
  const size = 2 ** level;
  const [rows, columns] = [Math.ceil(view.rows / size), Math.ceil(view.columns / size)];
  state.chosen = !old ? area : {
    level,
    south: Math.max(area.south - (up < 0 ? 1 : 0), 0), north: Math.min(area.north + (up > 0 ? 1 : 0), rows - 1),
    west: Math.max(area.west - (right < 0 ? 1 : 0), 0), east: Math.min(area.east + (right > 0 ? 1 : 0), columns - 1),
  };
  state.cross = true;
  changed();
}

function tellChosen() {
  const { area } = state.chosen;
  if (area) {
    const [published, half] = [state.released.amounts[area - 1], halfOf(1)];
    sayChosen(words.chosen_area.replace("{area}", about.areas[area - 1]), published, half, state.truth?.amounts[area - 1]);
    return;
  }
  const { level, south, west, north, east } = state.chosen;
  const size = 2 ** level;
  const cells = (Math.min((north + 1) * size, view.rows) - south * size) * (Math.min((east + 1) * size, view.columns) - west * size);
  const sum = state.released.sum(level, south, west, north, east);
  const half = halfOf(cells);
  const said = words.chosen.replace("{cells}", places.number(cells * about.block ** 2));
  sayChosen(said, sum, half, state.truth?.sum(level, south, west, north, east));
}

function sayChosen(what, sum, half, truth) {
  const said = [what.replace("{sum}", places.number(sum).replace("-", "−"))];
  if (half !== null) said.push(words.interval.replace("{interval}", interval(sum, half)));
  if (truth !== undefined && [mode("first"), mode("second")].some(isSecret)) said.push(`${words.layer_truth}: ${places.number(truth)}`);
  part("chosen").textContent = said.join(words.between);
  part("clear").hidden = false;
}

function clear() {
  state.chosen = null;
  part("chosen").textContent = words.choose;
  part("clear").hidden = true;
  changed();
}

function resize() {
  const { clientWidth: width, clientHeight: height } = surface;
  ratio = Math.min(devicePixelRatio || 1, MAX_RATIO);
  for (const canvas of [surface.firstElementChild, part("overlay")]) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const isNew = view.width === 1;
  view.resize(width, height);
  if (isNew) fitPeople();
  changed();
}

// Where people are: a window of a country is mostly sea.
function fitPeople() {
  const cells = state.released;
  const level = Math.max(cells.levels.length - 4, 0);
  const size = 2 ** level;
  let [south, west, north, east] = [Infinity, Infinity, -1, -1];
  cells.each(level, 0, 0, (cells.side >> level) * cells.down - 1, (cells.side >> level) * cells.across - 1, (row, column) => {
    [south, west, north, east] = [Math.min(south, row), Math.min(west, column), Math.max(north, row), Math.max(east, column)];
  });
  if (north < 0) view.fit();
  else view.fit(south * size, west * size, Math.min((north + 1) * size, view.rows), Math.min((east + 1) * size, view.columns));
}

function recolour() {
  looks = null;
  palette = paletteBytes(about.palettes, about.steps, dark.matches, colours().ground);
  painter.setPalette(palette);
  changed();
}

async function answered(answer) {
  if (answer.ok) return cellsIn(await answer.arrayBuffer());
  const isJson = answer.headers.get("content-type")?.includes("json");
  throw new Error(isJson ? (await answer.json()).problem : words.unread);
}

const cellsIn = (buffer) => (about.areas ? new Areas(state.shapes, buffer) : new Cells(buffer));

async function load() {
  const asked = new URLSearchParams(fixed());
  const wantsTruth = state.truth !== null;
  take(0, cellsIn(await read(`/map/cells?${asked}`)));
  if (wantsTruth) await loadTruth();
}

async function read(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(words.unread);
  return answer.arrayBuffer();
}

function take(which, cells) {
  state[which ? "truth" : "released"] = cells;
  kept.clear();
  if (cells) view.levels = cells.levels.length;
  painter.setCells(which, cells);
  changed();
}

async function loadTruth() {
  const form = new URLSearchParams(fixed());
  form.set("holder", "yes");
  take(1, await answered(await fetch("/map/truth", { method: "POST", body: form })));
}

function problem(error) {
  part("problem").hidden = false;
  part("problem").textContent = error.message;
}

// A layer of true counts is read when the holder has said so, and asked once more if the answer was no.
async function chooseLayer() {
  part("swipe-row").hidden = mode("second") === null;
  if ([mode("first"), mode("second")].some(isSecret) && !state.truth) {
    part("ask").hidden = false;
    for (const side of ["first", "second"]) if (isSecret(mode(side))) part(side).value = side === "first" ? "released" : "";
    part("swipe-row").hidden = true;
    part("ask").querySelector("button").focus();
  }
  changed();
}

async function showTruth(event) {
  event.preventDefault();
  const button = part("ask").querySelector("button");
  button.disabled = true;
  try {
    await loadTruth();
    part("ask").hidden = true;
    part("second").value = "truth";
    part("swipe-row").hidden = false;
    part("second").focus();
  } catch (error) {
    problem(error);
  }
  button.disabled = false;
  changed();
}

function makePainter() {
  const wanted = new URLSearchParams(location.search).get("painter");
  const canvas = surface.firstElementChild;
  try {
    const made = wanted === "canvas" ? null : WebglPainter.make(canvas, about, wanted === "webgl");
    if (made) {
      root.dataset.painter = "webgl";
      canvas.addEventListener("webglcontextlost", (event) => { event.preventDefault(); replacePainter(); });
      return made;
    }
  } catch { /* a browser that has no such shaders: painted on a canvas below */ }
  return canvasPainter();
}

function canvasPainter() {
  // A canvas that was asked for WebGL2 gives nothing else any more.
  const fresh = surface.firstElementChild.cloneNode();
  surface.firstElementChild.replaceWith(fresh);
  root.dataset.painter = "canvas";
  return CanvasPainter.make(fresh, about);
}

function replacePainter() {
  painter = canvasPainter();
  for (const [which, cells] of [state.released, state.truth].entries()) painter.setCells(which, cells);
  resize();
  recolour();
}

async function begin() {
  const reading = read(root.dataset.cells);
  painter = makePainter();
  recolour();
  if (about.areas) state.shapes = await read(root.dataset.areas);
  take(0, cellsIn(await reading));
  resize();
  draw();
  new ResizeObserver(resize).observe(surface);
  dark.addEventListener("change", recolour);
  listen(surface, view, {
    changed: () => { state.cross = false; changed(); }, pointed, left: () => { part("value").textContent = words.point; },
    chose: choose, moved, grew, cleared: clear, selects: () => part("select").getAttribute("aria-pressed") === "true",
  });
  for (const side of ["first", "second"]) part(side).addEventListener("change", chooseLayer);
  part("swipe").addEventListener("input", changed);
  part("logarithmic").addEventListener("change", changed);
  part("choices").addEventListener("change", (event) => { if (event.target.name?.startsWith("slice-")) load().catch(problem); });
  part("choices").addEventListener("submit", (event) => event.preventDefault());
  part("ask").addEventListener("submit", showTruth);
  part("clear").addEventListener("click", clear);
  part("select").addEventListener("click", ({ currentTarget: button }) =>
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true")));
  for (const [name, act] of [["nearer", () => view.zoomBy(2)], ["further", () => view.zoomBy(0.5)], ["whole", () => view.fit()]])
    part(name).addEventListener("click", () => { act(); changed(); });
}

// Borders come after the map: they are read from a list in the folder, if there is one.
async function readBorders() {
  const row = part("borders-row");
  if (!row) return;
  const found = new Borders(await read(`/map/borders?folder=${encodeURIComponent(fixed().get("folder"))}`));
  part("border-note").textContent = part("border-note").dataset[found.isEmpty ? "none" : "some"];
  root.dataset.borders = String(!found.isEmpty);
  if (found.isEmpty) return;
  state.borders = found;
  row.hidden = false;
  part("borders").addEventListener("change", changed);
  changed();
}

begin().then(readBorders).catch(problem);
