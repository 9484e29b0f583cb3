// Borders of prefectures and municipalities: lines along meshes, drawn where they are seen.
const NEAR = 2.5; // pixels of a mesh of 1 km from which municipalities are told apart

export class Borders {
  constructor(buffer) {
    const [prefectures, municipalities] = new Int32Array(buffer, 0, 2);
    this.prefectures = new Float32Array(buffer, 8, 4 * prefectures);
    this.municipalities = new Float32Array(buffer, 8 + 16 * prefectures, 4 * municipalities);
  }

  get isEmpty() { return this.prefectures.length === 0; }

  paint(pen, view, about, colours) {
    const isNear = (1000 / about.mesh.metres / about.block) * view.zoom >= NEAR;
    if (about.areas) { // the ground shows between coloured areas
      stroke(pen, view, this.municipalities, isNear ? 0.9 : 0.25, isNear ? 1 : 0.5, colours.ground);
      stroke(pen, view, this.prefectures, 1, isNear ? 1.8 : 1, colours.ground);
      return;
    }
    if (isNear) stroke(pen, view, this.municipalities, 0.45, 1, colours.ink);
    stroke(pen, view, this.prefectures, 0.8, isNear ? 1.8 : 1, colours.ink);
  }
}

function stroke(pen, view, lines, alpha, width, colour) {
  const [west, north] = view.cellAt(0, 0);
  const [east, south] = view.cellAt(view.width, view.height);
  const [left, top] = view.pixelAt(0, 0);
  pen.globalAlpha = alpha;
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.beginPath();
  for (let at = 0; at < lines.length; at += 4) {
    if (lines[at + 2] < south || lines[at] > north || lines[at + 3] < west || lines[at + 1] > east) continue;
    pen.moveTo(left + lines[at + 1] * view.across, top - lines[at] * view.zoom);
    pen.lineTo(left + lines[at + 3] * view.across, top - lines[at + 2] * view.zoom);
  }
  pen.stroke();
  pen.globalAlpha = 1;
  pen.lineWidth = 1;
}
