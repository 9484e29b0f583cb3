// Paints the same map as webgl.js, pixel by pixel, where a browser has no WebGL2, or only one that is rendered in software: that is
// slower than this.
import { amountOf, shadeOf, DIFFERENCE, ERROR, TRUTH } from "./shading.js";

const KEPT = 1 << 12; // amounts either way whose colours are worked out once

export class CanvasPainter {
  static make(canvas, about) {
    return new CanvasPainter(canvas.getContext("2d", { alpha: false }), about);
  }

  constructor(context, about) {
    Object.assign(this, { context, about, layers: [null, null] });
  }

  setCells(which, cells) { this.layers[which] = cells; }

  setPalette(bytes) { this.palette = new Uint32Array(bytes.buffer); }

  paint({ level, origin, step, split, first, second, width, height }) {
    if (this.image?.width !== width || this.image?.height !== height) {
      this.image = this.context.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    const { about, palette, pixels } = this;
    const squares = (cells) => Math.ceil(Math.ceil(cells / about.block) / 2 ** level);
    const [columns, rows] = [squares(about.columns), squares(about.rows)];
    const place = Int32Array.from({ length: width }, (_, x) => Math.floor(Math.fround(origin[0] + (x + 0.5) * step[0])));
    const middle = Math.min(Math.max(Math.ceil(split - 0.5), 0), width);
    const parts = [[0, middle, this.colouring(first, level)], [middle, width, this.colouring(second, level)]];
    pixels.fill(palette[0]);
    let before = -1;
    for (let y = 0; y < height; y += 1) {
      const row = Math.floor(Math.fround(origin[1] + (height - y - 0.5) * step[1]));
      if (row < 0 || row >= rows) continue;
      // Pixels of the same squares as those above them are the same.
      if (row === before) pixels.copyWithin(y * width, (y - 1) * width, y * width);
      else for (const [from, to, colourOf] of parts) {
        let [last, colour] = [-1, palette[0]];
        for (let x = from; x < to; x += 1) {
          const column = place[x];
          if (column < 0 || column >= columns) continue;
          if (column !== last) {
            last = column;
            colour = colourOf(row, column);
          }
          pixels[y * width + x] = colour;
        }
      }
      before = row;
    }
    this.context.putImageData(this.image, 0, 0);
  }

  // The colour of a square in a layer.
  colouring(layer, level) {
    const { palette, about } = this;
    const [released, truth] = this.layers;
    const known = new Uint32Array(2 * KEPT + 1);
    const found = (number) => {
      const amount = layer.mode === ERROR ? amountOf(layer, number, 0) : number;
      return palette[256 * layer.rows[amount > 0 ? 0 : 1] + shadeOf(layer, amount, about.steps)];
    };
    const colourOf = (number) => {
      if (number < -KEPT || number > KEPT) return found(number);
      return (known[number + KEPT] ||= found(number));
    };
    const none = () => 0;
    const [publishedAt, truthAt] = [released, truth].map((cells) => cells?.reader(level) ?? none);
    if (layer.mode === TRUTH) return (row, column) => colourOf(truthAt(row, column));
    if (layer.mode === DIFFERENCE) return (row, column) => colourOf(publishedAt(row, column) - truthAt(row, column));
    return (row, column) => colourOf(publishedAt(row, column));
  }
}
