// Legends: a band of colours with numbers below it, and a title that says what a square shows.
import { DIFFERENCE, ERROR, shareOf } from "./shading.js";

export function drawLegend(place, { paint, title, palette, steps, hasNegative, number }) {
  const isSigned = paint.mode === DIFFERENCE || (hasNegative && paint.mode !== ERROR);
  const band = place.querySelector("canvas");
  const pen = band.getContext("2d");
  band.width = 256;
  band.height = 1;
  const image = pen.createImageData(256, 1);
  const colours = new Uint32Array(image.data.buffer);
  const table = new Uint32Array(palette.buffer);
  for (let x = 0; x < 256; x += 1) {
    const along = isSigned ? (x - 127.5) / 127.5 : (x + 0.5) / 256;
    const shade = Math.min(Math.max(Math.ceil(Math.abs(along) * steps), 1), steps);
    colours[x] = table[256 * paint.rows[along < 0 ? 1 : 0] + shade];
  }
  pen.putImageData(image, 0, 0);
  place.querySelector("[data-title]").textContent = title;
  const ticks = place.querySelector("[data-ticks]");
  const marks = ticksOf(paint, isSigned ? 0.28 : 0.14).flatMap((value) => (isSigned && value ? [value, -value] : [value]));
  ticks.replaceChildren(
    ...marks.map((value) => {
      const mark = document.createElement("span");
      const share = value ? shareOf(paint, value) : 0;
      mark.style.left = `${100 * (isSigned ? 0.5 + (Math.sign(value) * share) / 2 : share)}%`;
      if (share > 0.93) mark.className = value < 0 ? "start" : "end";
      const sign = isSigned && paint.mode === DIFFERENCE && value > 0 ? "+" : "";
      mark.textContent = paint.mode === ERROR ? `${value === 100 ? "≥ " : ""}${value} %` : `${sign}${number(value).replace("-", "−")}`;
      return mark;
    }),
  );
}

// Round numbers that stand far enough from each other: powers of ten on a logarithmic scale.
export function ticksOf(paint, apart) {
  if (paint.mode === ERROR) return [0, 25, 50, 75, 100];
  if (!paint.isLogarithmic) {
    const power = 10 ** Math.floor(Math.log10(paint.most));
    const step = [0.5, 1, 2, 5].map((times) => times * power).find((each) => paint.most / each <= 4) ?? power;
    return Array.from({ length: Math.floor(paint.most / step) + 1 }, (_, at) => at * step);
  }
  const found = [0];
  for (let value = 1; value <= paint.most; value *= 10)
    if (shareOf(paint, value) - (found.length ? shareOf(paint, found.at(-1)) : -1) > apart) found.push(value);
  return found;
}
