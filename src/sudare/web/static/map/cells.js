// Cells of a map, decoded from tiles, and summed into squares of 2, 4, 8, ... cells a side: one level for each.
export class Cells {
  constructor(buffer) {
    const [, side, down, across, count, cells] = new Int32Array(buffer, 0, 6);
    const numbers = new Int32Array(buffer, 24, count);
    const starts = new Int32Array(buffer, 24 + 4 * count, count + 1);
    const values = new Int32Array(buffer, 28 + 8 * count, cells);
    const inside = new Uint16Array(buffer, 28 + 8 * count + 4 * cells, cells);
    Object.assign(this, { side, down, across, count, cells });
    this.index = new Int32Array(down * across).fill(-1);
    numbers.forEach((number, tile) => { this.index[number] = tile; });
    Object.assign(this, { starts, values, inside });
    this.levels = new Array(Math.log2(side) + 1).fill(null);
    this.largest = new Array(this.levels.length).fill(null);
  }

  // The squares of a level, tile after tile; summed from the cells when it is first looked at.
  at(level) { return (this.levels[level] ??= this.squares(level, (before, value) => before + value)); }

  // Squares that are made from the cells in them.
  squares(level, joined) {
    const { side, count, starts, values, inside } = this;
    const [bits, size] = [this.levels.length - 1, side >> level];
    const made = new Int32Array(Math.max(count, 1) * size * size);
    for (let tile = 0; tile < count; tile += 1) {
      const base = tile * size * size;
      for (let cell = starts[tile]; cell < starts[tile + 1]; cell += 1) {
        const place = inside[cell];
        const to = base + (place >> (bits + level)) * size + ((place & (side - 1)) >> level);
        made[to] = joined(made[to], values[cell]);
      }
    }
    return made;
  }

  // Gives the value of a square of a level, by its row and column.
  reader(level, values = this.at(level)) {
    const bits = this.levels.length - 1 - level;
    const { index, down, across } = this;
    const inside = (1 << bits) - 1;
    return (row, column) => {
      const [tileRow, tileColumn] = [row >> bits, column >> bits];
      if (row < 0 || column < 0 || tileRow >= down || tileColumn >= across) return 0;
      const tile = index[tileRow * across + tileColumn];
      return tile < 0 ? 0 : values[(((tile << bits) + (row & inside)) << bits) + (column & inside)];
    };
  }

  value(level, row, column) { return this.reader(level)(row, column); }

  most(level) {
    if (this.largest[level] === null) {
      let top = 0;
      for (const value of level ? this.at(level) : this.values) if (value > top || -value > top) top = Math.abs(value);
      this.largest[level] = top;
    }
    return this.largest[level];
  }

  // What is in a rectangle of squares, both ends included.
  sum(level, south, west, north, east) {
    let total = 0;
    this.each(level, south, west, north, east, (row, column, value) => { total += value; });
    return total;
  }

  // Calls for every square of a rectangle that is not 0; tiles without cells are passed over.
  each(level, south, west, north, east, call) {
    const size = this.side >> level;
    const values = this.at(level);
    for (let down = Math.max(0, Math.floor(south / size)); down < Math.min(this.down, Math.floor(north / size) + 1); down += 1) {
      for (let right = Math.max(0, Math.floor(west / size)); right < Math.min(this.across, Math.floor(east / size) + 1); right += 1) {
        const tile = this.index[down * this.across + right];
        if (tile < 0) continue;
        const [bottom, top] = [Math.max(south - down * size, 0), Math.min(north - down * size, size - 1)];
        const [left, end] = [Math.max(west - right * size, 0), Math.min(east - right * size, size - 1)];
        for (let row = bottom; row <= top; row += 1) {
          for (let column = left; column <= end; column += 1) {
            const value = values[(tile * size + row) * size + column];
            if (value) call(down * size + row, right * size + column, value);
          }
        }
      }
    }
  }
}

// The largest difference of two maps at a level, either way.
export function largestDifference(first, second, level) {
  let most = 0;
  const size = first.side >> level;
  const [rows, columns] = [first.down * size - 1, first.across * size - 1];
  const [firstAt, secondAt] = [first.reader(level), second.reader(level)];
  first.each(level, 0, 0, rows, columns, (row, column, value) => { most = Math.max(most, Math.abs(value - secondAt(row, column))); });
  second.each(level, 0, 0, rows, columns, (row, column, value) => { if (!firstAt(row, column)) most = Math.max(most, Math.abs(value)); });
  return most;
}
