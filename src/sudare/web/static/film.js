// A window as a film: frames of published counts on a canvas with a legend and a table, by buttons or a slider. Nothing moves unless
// it is asked to.
import { drawLegend } from "./map/legend.js";
import { paintOf, paletteBytes, RELEASED, shadeOf } from "./map/shading.js";
import { fillTable } from "./map/table.js";

const LISTED = 10;
const player = document.getElementById("player");
if (player) {
  const [canvas, slider, play, caption] = ["frame", "tick", "play", "caption"].map((name) => document.getElementById(name));
  const film = await (await fetch(player.dataset.url)).json();
  const language = document.documentElement.lang;
  const number = (value) => value.toLocaleString(language).replace("-", "−");
  const most = film.frames.reduce((far, frame) => frame.counts.reduce((a, b) => Math.max(a, Math.abs(b)), far), 1);
  const paint = paintOf(RELEASED, most, true, null);
  const isSigned = film.frames.some((frame) => frame.counts.some((count) => count < 0));
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let timer = null;

  function show(place) {
    const frame = film.frames[place];
    const ground = getComputedStyle(player).getPropertyValue("--paper").trim();
    const palette = paletteBytes(film.palettes, film.steps, dark.matches, ground);
    const colours = new Uint32Array(palette.buffer);
    const image = new ImageData(film.columns, film.rows);
    const pixels = new Uint32Array(image.data.buffer);
    frame.counts.forEach((count, cell) => {
      pixels[cell] = colours[256 * paint.rows[count < 0 ? 1 : 0] + shadeOf(paint, count, film.steps)];
    });
    canvas.width = film.columns;
    canvas.height = film.rows;
    canvas.getContext("2d").putImageData(image, 0, 0);
    slider.value = place;
    slider.setAttribute("aria-valuetext", frame.begins);
    caption.textContent = `${frame.begins} · ${number(frame.total)}`;
    const title = player.dataset.legend;
    drawLegend(document.getElementById("film-legend"), { paint, title, palette, steps: film.steps, hasNegative: isSigned, number });
    const order = frame.counts.map((count, cell) => [count, cell]).filter(([count]) => count);
    const largest = order.sort(([one], [other]) => Math.abs(other) - Math.abs(one)).slice(0, LISTED);
    fillTable(document.getElementById("film-table"), frame.begins, largest.map(([count, cell]) => [film.names[cell], number(count)]));
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    caption.setAttribute("aria-live", "polite");
    play.textContent = player.dataset.play;
    play.setAttribute("aria-pressed", "false");
  }

  function start() {
    caption.setAttribute("aria-live", "off");
    play.textContent = player.dataset.pause;
    play.setAttribute("aria-pressed", "true");
    timer = setInterval(() => step(1), calm.matches ? 2000 : 500);
  }

  const step = (by) => show((Number(slider.value) + by + film.frames.length) % film.frames.length);
  play.addEventListener("click", () => (timer === null ? start() : stop()));
  document.getElementById("previous").addEventListener("click", () => { stop(); step(-1); });
  document.getElementById("next").addEventListener("click", () => { stop(); step(1); });
  slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
  dark.addEventListener("change", () => show(Number(slider.value)));
  show(0);
  document.body.dataset.ready = "yes";
}
