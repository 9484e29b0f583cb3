// Which shade an amount has: the same steps as in the pictures that are written to files.
export const RELEASED = 0, TRUTH = 1, ERROR = 2, DIFFERENCE = 3;
export const MODES = { released: RELEASED, truth: TRUTH, error: ERROR, difference: DIFFERENCE };
export const CERTAINTY = 1.96; // standard errors on either side of what is true 19 times out of 20
const ROWS = [[0, 1], [0, 1], [1, 1], [2, 3]];

// One layer as both painters take it: what it shows, the rows of its palettes above and below 0, and its scale.
export function paintOf(mode, most, isLogarithmic, half) {
  const isError = mode === ERROR;
  return { mode, rows: ROWS[mode], most: Math.max(isError ? 100 : most, 1), isLogarithmic: isLogarithmic && !isError, half };
}

// What a square shows, from its published and its true count; errors are percents of the count, at most 100.
export function amountOf(paint, released, truth) {
  if (paint.mode === RELEASED) return released;
  if (paint.mode === TRUTH) return truth;
  if (paint.mode === DIFFERENCE) return released - truth;
  return released > 0 ? Math.min((100 * paint.half) / released, 100) : 0;
}

export function shareOf(paint, amount) {
  const size = Math.min(Math.abs(amount), paint.most);
  return paint.isLogarithmic ? Math.log(1 + size) / Math.log(1 + paint.most) : size / paint.most;
}

export function shadeOf(paint, amount, steps) {
  if (amount === 0) return 0;
  return Math.min(Math.max(Math.ceil(shareOf(paint, amount) * steps - 0.001), 1), steps);
}

// All palettes as bytes of red, green, blue and alpha, 256 to a row: first the ground, on which nobody is, then the shades. On a
// dark ground they are turned round.
export function paletteBytes(rows, steps, isDark, ground) {
  const bytes = new Uint8Array(rows.length * 256 * 4);
  rows.forEach((digits, row) => {
    for (let shade = 0; shade <= steps; shade += 1) {
      const from = 6 * ((isDark ? steps + 1 - shade : shade) - 1);
      const colour = shade ? digits.slice(from, from + 6) : ground.slice(1);
      const to = 4 * (256 * row + shade);
      for (let part = 0; part < 3; part += 1) bytes[to + part] = parseInt(colour.slice(2 * part, 2 * part + 2), 16);
      bytes[to + 3] = 255;
    }
  });
  return bytes;
}

// The error to expect of an area of so many cells: between the sides that are known, on straight lines of logarithms.
export function errorOf(known, cells) {
  if (!known.length) return null;
  const side = Math.sqrt(Math.max(cells, 1));
  const after = known.findIndex(([size]) => size >= side);
  if (after === 0) return known[0][1];
  if (after < 0) return known.at(-1)[1];
  const [[a, low], [b, high]] = [known[after - 1], known[after]];
  const share = Math.log(side / a) / Math.log(b / a);
  return low ** (1 - share) * high ** share;
}
