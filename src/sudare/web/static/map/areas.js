// Maps of areas: each mesh shows what was published of the municipality or prefecture that it belongs to.
import { Cells } from "./cells.js";

export class Areas extends Cells {
  // Meshes with the numbers of their areas, from 1, and what is known of each area.
  constructor(shapes, amounts) {
    super(shapes);
    this.amounts = new Int32Array(amounts);
    this.numbers = this.levels.map(() => null);
  }

  numbersAt(level) { return (this.numbers[level] ??= this.squares(level, (before, number) => number)); }

  at(level) {
    return (this.levels[level] ??= this.numbersAt(level).map((number) => (number ? this.amounts[number - 1] : 0)));
  }

  // The number of the area of a square; 0 if it is in none.
  areaAt(level, row, column) { return this.reader(level, this.numbersAt(level))(row, column); }

  most() { return this.amounts.reduce((top, amount) => Math.max(top, Math.abs(amount)), 0); }
}
