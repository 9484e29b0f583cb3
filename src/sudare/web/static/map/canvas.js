// Paints the same map as webgl.js, pixel by pixel, where a browser has no WebGL2.
import { amountOf, shadeOf, DIFFERENCE, TRUTH } from "./shading.js";

export class CanvasPainter {
  static make(canvas, about) {
    return new CanvasPainter(canvas.getContext("2d"), about);
  }

  constructor(context, about) {
    Object.assign(this, { context, about, layers: [null, null] });
  }

  setCells(which, cells) { this.layers[which] = cells; }

  setPalette(bytes) { this.palette = new Uint32Array(bytes.buffer); }

  paint({ level, origin, step, split, first, second, width, height }) {
    const { about, palette } = this;
    const [released, truth] = this.layers;
    if (this.image?.width !== width || this.image?.height !== height) this.image = this.context.createImageData(width, height);
    const pixels = new Uint32Array(this.image.data.buffer).fill(0);
    const squares = (cells) => Math.ceil(Math.ceil(cells / about.block) / 2 ** level);
    const [columns, rows] = [squares(about.columns), squares(about.rows)];
    const place = Int32Array.from({ length: width }, (_, x) => Math.floor(Math.fround(origin[0] + (x + 0.5) * step[0])));
    for (let y = 0; y < height; y += 1) {
      const row = Math.floor(Math.fround(origin[1] + (height - y - 0.5) * step[1]));
      if (row < 0 || row >= rows) continue;
      let [last, paint, colour] = [-1, null, 0];
      for (let x = 0; x < width; x += 1) {
        const column = place[x];
        if (column < 0 || column >= columns) continue;
        const layer = x + 0.5 < split ? first : second;
        if (column !== last || layer !== paint) {
          [last, paint] = [column, layer];
          const published = layer.mode === TRUTH ? 0 : released.value(level, row, column);
          const known = (layer.mode === TRUTH || layer.mode === DIFFERENCE) && truth ? truth.value(level, row, column) : 0;
          const amount = amountOf(layer, published, known);
          const shade = shadeOf(layer, amount, about.steps);
          colour = shade ? palette[256 * layer.rows[amount > 0 ? 0 : 1] + shade] : 0;
        }
        pixels[y * width + x] = colour;
      }
    }
    this.context.putImageData(this.image, 0, 0);
  }
}
