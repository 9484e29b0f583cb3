// Names of places: mesh codes (JIS X 0410), degrees, lengths.
const SIDES = [[100, 10000, 100, 1, 0], [8, 100, 10, 1, 0], [10, 100, 10, 1, 0], [2, 10, 2, 1, 1], [5, 1000, 200, 20, 5]];

export class Places {
  constructor(about, words, language) {
    Object.assign(this, { about, words, language, mesh: about.mesh });
  }

  // The code of a cell of the whole grid.
  code(row, column) {
    let [code, place] = [0, 1];
    for (const stage of [...this.mesh.stages].reverse()) {
      const [sides, power, ofRow, ofColumn, plus] = SIDES[stage];
      code += place * (ofRow * (row % sides) + ofColumn * (column % sides) + plus);
      [row, column, place] = [Math.floor(row / sides), Math.floor(column / sides), place * power];
    }
    return String(code).padStart(this.mesh.digits, "0");
  }

  degrees(row, column) {
    const { divisions, row: first, column: left } = this.mesh;
    return [((first + row * this.about.block) * 2) / (3 * divisions), 100 + (left + column * this.about.block) / divisions];
  }

  // How a square is called: by its code if it is one mesh, else by its middle.
  name(level, row, column) {
    const cells = 2 ** level * this.about.block;
    if (!this.mesh) {
      const [down, right] = [row, column].map((place) => (cells === 1 ? `${place}` : `${place * cells}–${(place + 1) * cells - 1}`));
      return this.words.place.replace("{row}", down).replace("{column}", right);
    }
    if (cells === 1) return this.code(this.mesh.row + row, this.mesh.column + column);
    const [latitude, longitude] = this.degrees((row + 0.5) * 2 ** level, (column + 0.5) * 2 ** level);
    return this.words.around.replace("{latitude}", latitude.toFixed(2)).replace("{longitude}", longitude.toFixed(2));
  }

  length(cells) {
    if (!this.mesh) return this.words.cells.replace("{number}", this.number(cells));
    const metres = this.mesh.metres * cells;
    return metres < 1000 ? `${metres} m` : `${this.number(metres / 1000)} km`;
  }

  // Pixels and text of a scale bar of at most so many pixels, in the latitude of the middle.
  bar(view, most) {
    const { block } = this.about;
    if (!this.mesh) return barOf((most / view.across) * block, most, (cells) => this.length(cells), 1);
    const [latitude] = this.degrees(view.y, view.x);
    const metres = (block * 111320 * Math.cos((latitude * Math.PI) / 180)) / this.mesh.divisions;
    return barOf((most / view.across) * metres, most, (long) => (long < 1000 ? `${long} m` : `${this.number(long / 1000)} km`), 1);
  }

  number(value) { return value.toLocaleString(this.language, { maximumFractionDigits: Math.abs(value) < 10 ? 1 : 0 }); }
}

function barOf(whole, pixels, text, least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(whole, least)));
  const long = [5, 2, 1].map((times) => times * power).find((length) => length <= whole) ?? power;
  return { width: (pixels * long) / whole, text: text(long) };
}
