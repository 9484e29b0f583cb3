// What hands do to a map: keys, wheel, mouse and fingers.
const STEP = 80;

export function listen(element, view, { changed, pointed, left, chose, moved, grew, cleared, selects }) {
  const pointers = new Map();
  let start = null;
  let apart = 0;
  const place = (event) => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const spread = () => {
    const [[ax, ay], [bx, by]] = [...pointers.values()];
    return { distance: Math.hypot(ax - bx, ay - by), middle: [(ax + bx) / 2, (ay + by) / 2] };
  };

  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
    if (pointers.size === 2) apart = spread().distance;
    start = pointers.size === 1 && (event.shiftKey || selects()) ? place(event) : null;
  });
  element.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    const before = pointers.get(event.pointerId);
    if (!before) { pointed(x, y); return; }
    pointers.set(event.pointerId, [x, y]);
    if (pointers.size === 2) {
      const { distance, middle } = spread();
      view.zoomBy(distance / Math.max(apart, 1), ...middle);
      apart = distance;
      changed();
    } else if (start) chose(start, [x, y]);
    else {
      view.move(before[0] - x, y - before[1]);
      changed();
    }
  });
  for (const name of ["pointerup", "pointercancel"])
    element.addEventListener(name, (event) => { pointers.delete(event.pointerId); start = null; });
  element.addEventListener("pointerleave", left);
  element.addEventListener("wheel", (event) => {
    // The page scrolls under the wheel until the map was clicked.
    if (document.activeElement !== element && !event.ctrlKey) return;
    event.preventDefault();
    view.zoomBy(2 ** (-Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY) / 240, 1)), ...place(event));
    changed();
  }, { passive: false });
  element.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (way && event.shiftKey) grew(...way);
    else if (way) {
      const square = 2 ** view.level;
      const [right, up] = event.ctrlKey ? [square * view.across, square * view.zoom] : [STEP, STEP];
      view.move(way[0] * right, way[1] * up);
      moved();
    } else if (["+", "=", ";"].includes(event.key)) { view.zoomBy(2); moved(); }
    else if (["-", "_"].includes(event.key)) { view.zoomBy(0.5); moved(); }
    else if (["0", "Home"].includes(event.key)) { view.fit(); moved(); }
    else if (event.key === "Escape") cleared();
    else return;
    event.preventDefault();
  });
}
