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
    const first = new Int32Array(Math.max(count, 1) * side * side);
    for (let tile = 0; tile < count; tile += 1) {
      const base = tile * side * side;
      for (let at = starts[tile]; at < starts[tile + 1]; at += 1) first[base + inside[at]] = values[at];
    }
    this.levels = [first];
    // The first sums come from the cells that there are; those above them from all squares.
    const half = side / 2;
    const second = new Int32Array(Math.max(count, 1) * half * half);
    for (let tile = 0; tile < count; tile += 1) {
      const base = tile * half * half;
      for (let at = starts[tile]; at < starts[tile + 1]; at += 1) {
        const place = inside[at];
        second[base + (((place / side) | 0) >> 1) * half + ((place % side) >> 1)] += values[at];
      }
    }
    if (side > 1) this.levels.push(second);
    for (let size = half; size > 1; size /= 2) this.levels.push(halved(this.levels.at(-1), size, Math.max(count, 1)));
    this.largest = this.levels.map(() => undefined);
  }

  // The value of a square of a level, by its row and column.
  value(level, row, column) {
    const size = this.side >> level;
    const [tileRow, tileColumn] = [Math.floor(row / size), Math.floor(column / size)];
    if (row < 0 || column < 0 || tileRow >= this.down || tileColumn >= this.across) return 0;
    const tile = this.index[tileRow * this.across + tileColumn];
    return tile < 0 ? 0 : this.levels[level][(tile * size + row - tileRow * size) * size + column - tileColumn * size];
  }

  most(level) {
    if (this.largest[level] === undefined) this.largest[level] = this.levels[level].reduce((top, value) => Math.max(top, Math.abs(value)), 0);
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
    const values = this.levels[level];
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

function halved(values, size, count) {
  const half = size / 2;
  const sums = new Int32Array(count * half * half);
  for (let tile = 0, to = 0; tile < count; tile += 1) {
    for (let row = 0; row < half; row += 1) {
      let from = (tile * size + 2 * row) * size;
      for (let column = 0; column < half; column += 1, from += 2, to += 1)
        sums[to] = values[from] + values[from + 1] + values[from + size] + values[from + size + 1];
    }
  }
  return sums;
}

// The largest difference of two maps at a level, either way.
export function largestDifference(first, second, level) {
  let most = 0;
  const size = first.side >> level;
  const [rows, columns] = [first.down * size - 1, first.across * size - 1];
  first.each(level, 0, 0, rows, columns, (row, column, value) => { most = Math.max(most, Math.abs(value - second.value(level, row, column))); });
  second.each(level, 0, 0, rows, columns, (row, column, value) => { if (!first.value(level, row, column)) most = Math.max(most, Math.abs(value)); });
  return most;
}
