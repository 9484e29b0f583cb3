// The table twin of a map: the squares in view with the most of what it shows.
import { amountOf } from "./shading.js";

const ROWS = 20;

export function largestInView(view, paint, released, truth) {
  const level = view.level;
  const found = [];
  const add = (row, column, published, known) => {
    const amount = amountOf(paint, published, known);
    const size = Math.abs(amount);
    if (!amount || (found.length === ROWS && size <= Math.abs(found.at(-1).amount))) return;
    let at = found.length;
    while (at > 0 && Math.abs(found[at - 1].amount) < size) at -= 1;
    found.splice(at, 0, { row, column, amount, published });
    if (found.length > ROWS) found.pop();
  };
  const seen = view.seen();
  const [publishedAt, truthAt] = [released.reader(level), truth?.reader(level) ?? (() => 0)];
  released.each(level, ...seen, (row, column, value) => add(row, column, value, truthAt(row, column)));
  truth?.each(level, ...seen, (row, column, value) => { if (!publishedAt(row, column)) add(row, column, 0, value); });
  return found;
}

// Of areas all are listed, wherever they are.
export function largestAreas(paint, released, truth) {
  const found = [];
  released.amounts.forEach((published, area) => {
    const amount = amountOf(paint, published, truth?.amounts[area] ?? 0);
    if (amount) found.push({ area, amount, published });
  });
  return found.sort((one, other) => Math.abs(other.amount) - Math.abs(one.amount));
}

export function fillTable(table, caption, rows) {
  table.caption.textContent = caption;
  table.tBodies[0].replaceChildren(
    ...rows.map(([place, ...numbers]) => {
      const row = document.createElement("tr");
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = place;
      row.append(head);
      for (const number of numbers) {
        const cell = row.insertCell();
        cell.className = "number";
        cell.textContent = number;
      }
      return row;
    }),
  );
}
