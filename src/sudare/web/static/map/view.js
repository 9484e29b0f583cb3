// Where the map stands: its middle in cells, how many pixels a cell is high, and how large the squares are that it is drawn in.
const MAX_ZOOM = 64;

export class View {
  constructor(about) {
    this.about = about;
    // Cells of a very large map have been summed before they were sent.
    this.rows = Math.ceil(about.rows / about.block);
    this.columns = Math.ceil(about.columns / about.block);
    Object.assign(this, { width: 1, height: 1, x: this.columns / 2, y: this.rows / 2, zoom: 1, levels: 9 });
  }

  resize(width, height) { Object.assign(this, { width, height }); }

  // Show a rectangle of cells, or all of them.
  fit(south = 0, west = 0, north = this.rows, east = this.columns) {
    this.zoom = Math.min(this.height / (north - south), this.width / ((east - west) * this.about.aspect), MAX_ZOOM) * 0.96;
    [this.x, this.y] = [(west + east) / 2, (south + north) / 2];
  }

  get minZoom() { return Math.min(this.height / this.rows, this.width / (this.columns * this.about.aspect)) / 2; }

  get across() { return this.zoom * this.about.aspect; }

  // Squares of 2 ** level cells a side are drawn: the smallest that are about a pixel large.
  get level() { return Math.min(Math.max(Math.ceil(-Math.log2(Math.min(this.zoom, this.across)) - 0.3), 0), this.levels - 1); }

  move(right, up) {
    this.x = Math.min(Math.max(this.x + right / this.across, 0), this.columns);
    this.y = Math.min(Math.max(this.y + up / this.zoom, 0), this.rows);
  }

  // Zoom so that what is under a pixel stays there.
  zoomBy(factor, px = this.width / 2, py = this.height / 2) {
    const [column, row] = this.cellAt(px, py);
    this.zoom = Math.min(Math.max(this.zoom * factor, this.minZoom), MAX_ZOOM);
    this.x = Math.min(Math.max(column - (px - this.width / 2) / this.across, 0), this.columns);
    this.y = Math.min(Math.max(row + (py - this.height / 2) / this.zoom, 0), this.rows);
  }

  cellAt(px, py) { return [this.x + (px - this.width / 2) / this.across, this.y - (py - this.height / 2) / this.zoom]; }

  pixelAt(column, row) { return [this.width / 2 + (column - this.x) * this.across, this.height / 2 - (row - this.y) * this.zoom]; }

  // The square under a pixel, by its row and column at the level that is drawn; null outside of the map.
  squareAt(px, py) {
    const [column, row] = this.cellAt(px, py);
    if (column < 0 || row < 0 || column >= this.columns || row >= this.rows) return null;
    return { row: Math.floor(row / 2 ** this.level), column: Math.floor(column / 2 ** this.level) };
  }

  // The squares that are seen, both ends included.
  seen() {
    const size = 2 ** this.level;
    const [west, north] = this.cellAt(0, 0);
    const [east, south] = this.cellAt(this.width, this.height);
    const within = (cell, cells) => Math.floor(Math.min(Math.max(cell, 0), cells - 1) / size);
    return [within(south, this.rows), within(west, this.columns), within(north, this.rows), within(east, this.columns)];
  }

  // For painters: the south-western corner and the steps between pixels, in squares.
  frame(ratio) {
    const size = 2 ** this.level;
    const [west] = this.cellAt(0, 0);
    const [, south] = this.cellAt(0, this.height);
    return { level: this.level, origin: [west / size, south / size], step: [1 / (this.across * ratio * size), 1 / (this.zoom * ratio * size)] };
  }
}
