// The slider of a plan. Errors were planned at a few budgets; between them they are read on straight lines of logarithms.
import { drawCurves } from "./curves.js";

const settings = document.getElementById("settings").dataset;
const [low, high] = [Number(settings.low), Number(settings.high)];
const slider = document.getElementById("slider");
const value = document.getElementById("value");
const steps = Number(slider.max);
let marks = [];
let exact = null;
let asking = 0;

const toValue = (place) => low * (high / low) ** (place / steps);
const toPlace = (number) => Math.round((steps * Math.log(number / low)) / Math.log(high / low));
const rounded = (number) => String(Number(number.toPrecision(2)));
const shown = (number) =>
  number >= 1000 ? Math.round(number).toLocaleString() : number >= 10 ? number.toFixed(0) : number.toPrecision(2);

function between(budget) {
  if (exact && exact.value === budget) return exact;
  if (!marks.length) return exact;
  let after = marks.findIndex((mark) => mark.value >= budget);
  if (after === 0) return marks[0];
  if (after < 0) return marks[marks.length - 1];
  const [a, b] = [marks[after - 1], marks[after]];
  const share = Math.log(budget / a.value) / Math.log(b.value / a.value);
  const mix = (x, y) => (x > 0 && y > 0 ? x ** (1 - share) * y ** share : x + (y - x) * share);
  const parts = a.parts.map((part, place) => {
    const other = b.parts[place];
    return { ...part, rmse: mix(part.rmse, other.rmse), low: mix(part.low, other.low), high: mix(part.high, other.high) };
  });
  const near = share < 0.5 ? a : b;
  return { ...near, value: budget, parts, power: mix(a.power, b.power), releases: b.releases };
}

export function show(budget) {
  const point = between(budget);
  const isMade = settings.made && Number(settings.made) === Number(value.value);
  document.getElementById("charge").textContent = isMade ? settings.free : `${settings.letter} = ${value.value}`;
  if (!point) return;
  const means = document.getElementById("means");
  means.textContent = means.dataset.power.replace("{power}", `${(100 * point.power).toFixed(1)} %`);
  const affords = document.getElementById("affords");
  const kind = point.releases === null ? "" : point.releases === 0 ? "none" : point.releases >= Number(settings.max) ? "many" : "some";
  affords.textContent = kind ? affords.dataset[kind].replace("{number}", point.releases.toLocaleString()) : "";
  const method = document.getElementById("method");
  method.textContent = method.dataset.text.replace("{method}", point.method);
  drawCurves(document.getElementById("chart"), point.parts, shown);
  fill(point);
}

function fill(point) {
  const body = document.querySelector("#error-table tbody");
  const groups = new Set(point.parts.map((part) => part.group));
  body.replaceChildren(
    ...point.parts.map((part) => {
      const row = document.createElement("tr");
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = groups.size > 1 ? `${part.name} (${part.group})` : part.name;
      const cells = [`± ${shown(part.rmse)}`, `${shown(part.low)} – ${shown(part.high)}`].map((text) => {
        const cell = document.createElement("td");
        cell.className = "number";
        cell.textContent = text;
        return cell;
      });
      row.append(head, ...cells);
      return row;
    }),
  );
  const others = document.getElementById("alternatives");
  const all = [{ name: point.method, ratio: 1, worst: 1, isChosen: true }, ...point.alternatives];
  const widest = Math.max(...all.map((one) => one.ratio));
  others.tBodies[0].replaceChildren(
    ...all.map(({ name, ratio, worst, isChosen }) => {
      const row = document.createElement("tr");
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = isChosen ? `${name} (${others.dataset.chosen})` : name;
      row.append(head);
      for (const text of isChosen ? ["1", "1"] : [ratio.toFixed(2), worst.toFixed(2)]) {
        const cell = row.insertCell();
        cell.className = "number";
        cell.textContent = text;
      }
      const bar = document.createElement("progress");
      bar.max = widest;
      bar.value = ratio;
      bar.setAttribute("aria-hidden", "true");
      row.insertCell().append(bar);
      return row;
    }),
  );
}

async function ask(budget) {
  const mine = ++asking;
  const answer = await fetch(`/plan/point?file=${encodeURIComponent(settings.file)}&value=${budget}`);
  if (!answer.ok || mine !== asking) return;
  exact = { ...(await answer.json()), value: Number(budget) };
  show(Number(value.value));
}

let resting;
function moved(text) {
  value.value = text;
  show(Number(text));
  clearTimeout(resting);
  resting = setTimeout(() => ask(text), 250);
}

slider.addEventListener("input", () => moved(rounded(toValue(Number(slider.value)))));
value.addEventListener("change", () => {
  const number = Number(value.value);
  if (!(number > 0)) return;
  slider.value = toPlace(number);
  moved(value.value);
});

document.getElementById("wish").addEventListener("submit", (event) => {
  event.preventDefault();
  const state = document.getElementById("wish-state");
  const wished = Number(document.getElementById("wished").value);
  const place = Number(document.getElementById("wished-for").value);
  state.textContent = "";
  if (!(wished > 0) || !marks.length) return;
  for (let at = 0; at <= steps; at += 1) {
    const budget = Number(rounded(toValue(at)));
    if (between(budget).parts[place].rmse <= wished) {
      slider.value = at;
      moved(String(budget));
      return;
    }
  }
  state.textContent = state.dataset.impossible;
});

const dialog = document.getElementById("confirm");
document.getElementById("ask").addEventListener("click", () => { show(Number(value.value)); dialog.showModal(); });
document.getElementById("not-yet").addEventListener("click", () => dialog.close());

slider.value = toPlace(Number(value.value));
slider.setAttribute("aria-valuetext", value.value);
slider.addEventListener("input", () => slider.setAttribute("aria-valuetext", value.value));
await ask(value.value);
const curves = await fetch(`/plan/curves?file=${encodeURIComponent(settings.file)}`);
if (curves.ok) {
  marks = await curves.json();
  const choice = document.getElementById("wished-for");
  choice.replaceChildren(
    ...marks[0].parts.map((part, place) => {
      const option = document.createElement("option");
      option.value = place;
      option.textContent = part.name;
      return option;
    }),
  );
  document.body.dataset.ready = "yes";
}
