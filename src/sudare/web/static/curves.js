// Typical errors as a picture: one curve a group over the sizes of areas, or bars where sums are no areas.
const SPACE = "http://www.w3.org/2000/svg";
const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [260, 56, 16, 14, 44];
const narrow = window.matchMedia("(max-width: 40rem)");

function piece(kind, attributes, text = "") {
  const made = document.createElementNS(SPACE, kind);
  for (const [name, given] of Object.entries(attributes)) made.setAttribute(name, given);
  made.textContent = text;
  return made;
}

export function drawCurves(chart, parts, shown) {
  const [WIDTH, MAX_NAMES] = narrow.matches ? [360, 5] : [640, 9]; // so that letters keep their size
  chart.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  const groups = [...new Set(parts.map((part) => part.group))];
  const names = [...new Set(parts.map((part) => part.name))];
  const ends = parts.flatMap((part) => [part.low, part.high, part.rmse]).filter((number) => number > 0);
  if (!ends.length) { chart.replaceChildren(); return; }
  const bottom = 10 ** Math.floor(Math.log10(Math.min(...ends)));
  const top = Math.max(10 ** Math.ceil(Math.log10(Math.max(...ends))), bottom * 10);
  const x = (name) => LEFT + ((names.indexOf(name) + 0.5) * (WIDTH - LEFT - RIGHT)) / names.length;
  const y = (number) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * Math.log(Math.max(number, bottom) / bottom)) / Math.log(top / bottom);
  const pieces = [];
  for (let mark = bottom; mark <= top * 1.001; mark *= 10) {
    pieces.push(piece("line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: y(mark), y2: y(mark) }));
    pieces.push(piece("text", { x: LEFT - 6, y: y(mark) + 4, "text-anchor": "end" }, shown(mark)));
  }
  const every = Math.ceil(names.length / MAX_NAMES);
  names.forEach((name, place) => {
    if (place % every === 0) pieces.push(piece("text", { x: x(name), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, parts.find((part) => part.name === name).label.slice(0, 14)));
  });
  groups.forEach((group, number) => {
    const own = parts.filter((part) => part.group === group);
    if (number === 0 && own.length > 1) {
      const path = [...own.map((part) => `${x(part.name)},${y(part.high)}`), ...own.slice().reverse().map((part) => `${x(part.name)},${y(part.low)}`)];
      pieces.push(piece("polygon", { class: "band", points: path.join(" ") }));
    }
    pieces.push(piece("polyline", { class: number ? "curve other" : "curve", points: own.map((part) => `${x(part.name)},${y(part.rmse)}`).join(" ") }));
    if (number === 0) for (const part of own) pieces.push(piece("circle", { class: "dot", cx: x(part.name), cy: y(part.rmse), r: 3.5 }));
  });
  chart.replaceChildren(...pieces);
}
