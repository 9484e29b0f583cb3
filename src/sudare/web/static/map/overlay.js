// What lies over the cells: the grid of first-level and second-level meshes with their codes, the line between two layers, the
// watermark of true counts, the crosshair, a chosen area, and the scale bar.
const NEAREST_LINES = 70;

export class Overlay {
  constructor(canvas, places, about) {
    Object.assign(this, { canvas, own: canvas.getContext("2d"), places, about });
  }

  // Onto the canvas that has the cells already, or over it.
  paint({ onto, view, ratio, colours, split, hasTwo, watermark, marked, chosen, cross, borders }) {
    const { canvas } = this;
    const pen = onto ?? this.own;
    this.context = pen;
    canvas.hidden = onto !== null;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    if (!onto) pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.font = `12px ${colours.font}`;
    pen.lineWidth = 1;
    this.frame(view, colours);
    if (this.about.mesh) this.grid(view, colours);
    borders?.paint(pen, view, this.about, colours);
    for (const [from, to] of marked) this.watermark(view, watermark, from, to, colours);
    if (chosen?.level !== undefined) this.area(view, chosen, colours);
    if (hasTwo) this.divide(view, split, colours);
    if (cross) this.crosshair(view, colours);
    this.scale(view, colours);
  }

  frame(view, colours) {
    const pen = this.context;
    const [left, top] = view.pixelAt(0, view.rows);
    const [right, bottom] = view.pixelAt(view.columns, 0);
    pen.strokeStyle = colours.field;
    pen.strokeRect(Math.round(left) - 0.5, Math.round(top) - 0.5, Math.round(right - left) + 1, Math.round(bottom - top) + 1);
  }

  grid(view, colours) {
    const { block, mesh } = this.about;
    const first = mesh.divisions / block;
    const second = first / 8;
    for (const [every, alpha, named] of [[second, 0.22, false], [first, 0.6, true]]) {
      if (every * view.zoom < (named ? NEAREST_LINES / 3 : NEAREST_LINES)) continue;
      this.lines(view, every, alpha, colours);
      if (named && every * view.zoom >= NEAREST_LINES / 1.6) this.codes(view, every, colours);
    }
  }

  lines(view, every, alpha, colours) {
    const { context: pen, about } = this;
    const [west, north] = view.cellAt(0, 0);
    const [east, south] = view.cellAt(view.width, view.height);
    pen.globalAlpha = alpha;
    pen.strokeStyle = colours.field;
    pen.beginPath();
    for (const at of steps(about.mesh.column / about.block, every, Math.max(west, 0), Math.min(east, view.columns))) {
      const [x] = view.pixelAt(at, 0);
      const [top, bottom] = [view.pixelAt(0, view.rows)[1], view.pixelAt(0, 0)[1]];
      pen.moveTo(Math.round(x) + 0.5, Math.max(top, 0));
      pen.lineTo(Math.round(x) + 0.5, Math.min(bottom, view.height));
    }
    for (const at of steps(about.mesh.row / about.block, every, Math.max(south, 0), Math.min(north, view.rows))) {
      const [, y] = view.pixelAt(0, at);
      const [left, right] = [view.pixelAt(0, 0)[0], view.pixelAt(view.columns, 0)[0]];
      pen.moveTo(Math.max(left, 0), Math.round(y) + 0.5);
      pen.lineTo(Math.min(right, view.width), Math.round(y) + 0.5);
    }
    pen.stroke();
    pen.globalAlpha = 1;
  }

  codes(view, every, colours) {
    const { context: pen, about } = this;
    const [west, north] = view.cellAt(0, 0);
    const [east, south] = view.cellAt(view.width, view.height);
    const { row, column, divisions } = about.mesh;
    for (const at of steps(row / about.block, every, Math.max(south, -every), Math.min(north, view.rows)))
      for (const along of steps(column / about.block, every, Math.max(west, -every), Math.min(east, view.columns))) {
        const code = Math.round((row + at * about.block) / divisions) * 100 + Math.round((column + along * about.block) / divisions);
        // A mesh that begins outside of the window is named where the window begins.
        const [x, y] = view.pixelAt(Math.max(along, 0), Math.max(at, 0));
        text(pen, String(code).padStart(4, "0"), x + 4, y - 5, colours);
      }
  }

  watermark(view, words, from, to, colours) {
    const pen = this.context;
    pen.save();
    pen.beginPath();
    pen.rect(from, 0, to - from, view.height);
    pen.clip();
    pen.font = `bold 20px ${colours.font}`;
    pen.globalAlpha = 0.55;
    pen.fillStyle = colours.warning;
    pen.strokeStyle = colours.ground;
    pen.lineWidth = 4;
    const long = pen.measureText(words).width + 70;
    pen.translate(view.width / 2, view.height / 2);
    pen.rotate(-Math.PI / 7);
    for (let y = -view.width; y <= view.width; y += 110)
      for (let x = -2 * view.width + ((y / 110) % 2) * (long / 2); x <= 2 * view.width; x += long) {
        pen.strokeText(words, x, y);
        pen.fillText(words, x, y);
      }
    pen.restore();
  }

  area(view, { level, south, west, north, east }, colours) {
    const pen = this.context;
    const size = 2 ** level;
    const [left, top] = view.pixelAt(west * size, (north + 1) * size);
    const [right, bottom] = view.pixelAt((east + 1) * size, south * size);
    pen.lineWidth = 4;
    pen.strokeStyle = colours.ground;
    pen.strokeRect(left, top, right - left, bottom - top);
    pen.lineWidth = 2;
    pen.strokeStyle = colours.accent;
    pen.strokeRect(left, top, right - left, bottom - top);
    pen.lineWidth = 1;
  }

  divide(view, split, colours) {
    const pen = this.context;
    pen.fillStyle = colours.ground;
    pen.fillRect(split - 2, 0, 4, view.height);
    pen.fillStyle = colours.accent;
    pen.fillRect(split - 1, 0, 2, view.height);
  }

  crosshair(view, colours) {
    const pen = this.context;
    const [x, y] = [view.width / 2, view.height / 2];
    for (const [width, colour] of [[4, colours.ground], [1.5, colours.ink]]) {
      pen.lineWidth = width;
      pen.strokeStyle = colour;
      pen.beginPath();
      for (const [right, down] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
        pen.moveTo(x + 5 * right, y + 5 * down);
        pen.lineTo(x + 14 * right, y + 14 * down);
      }
      pen.stroke();
    }
    pen.lineWidth = 1;
  }

  scale(view, colours) {
    const pen = this.context;
    const bar = this.places.bar(view, Math.min(140, view.width / 3));
    const [x, y] = [14, view.height - 14];
    for (const [width, colour] of [[5, colours.ground], [2, colours.ink]]) {
      pen.lineWidth = width;
      pen.strokeStyle = colour;
      pen.beginPath();
      pen.moveTo(x, y - 5);
      pen.lineTo(x, y);
      pen.lineTo(x + bar.width, y);
      pen.lineTo(x + bar.width, y - 5);
      pen.stroke();
    }
    pen.lineWidth = 1;
    text(pen, bar.text, x + 4, y - 6, colours);
  }
}

// Multiples of a step of the whole grid within a window that begins at some place of it.
function* steps(first, every, from, to) {
  for (let at = Math.ceil((first + from) / every - 1e-9) * every - first; at <= to; at += every) yield at;
}

function text(pen, words, x, y, colours) {
  pen.lineWidth = 3;
  pen.strokeStyle = colours.ground;
  pen.strokeText(words, x, y);
  pen.fillStyle = colours.ink;
  pen.fillText(words, x, y);
  pen.lineWidth = 1;
}
