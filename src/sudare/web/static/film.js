// A window as a film: frames of published counts on a canvas, by buttons or a slider. Nothing moves unless it is asked to.
const player = document.getElementById("player");
if (player) {
  const [canvas, slider, play, caption] = ["frame", "tick", "play", "caption"].map((name) => document.getElementById(name));
  const film = await (await fetch(player.dataset.url)).json();
  const most = film.frames.reduce((far, frame) => frame.counts.reduce((a, b) => Math.max(a, b), far), 1);
  const stops = [[247, 251, 255], [158, 202, 225], [66, 146, 198], [8, 81, 156], [8, 29, 68]];
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  let timer = null;

  function colour(count) {
    if (count <= 0) return stops[0];
    const at = (Math.log1p(count) / Math.log1p(most)) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    return stops[low].map((value, part) => value + (stops[low + 1][part] - value) * (at - low));
  }

  function show(place) {
    const frame = film.frames[place];
    const image = new ImageData(film.columns, film.rows);
    frame.counts.forEach((count, cell) => {
      const [red, green, blue] = colour(count);
      image.data.set([red, green, blue, 255], cell * 4);
    });
    canvas.width = film.columns;
    canvas.height = film.rows;
    canvas.getContext("2d").putImageData(image, 0, 0);
    slider.value = place;
    slider.setAttribute("aria-valuetext", frame.begins);
    caption.textContent = `${frame.begins} · ${frame.total.toLocaleString()}`;
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    caption.setAttribute("aria-live", "polite");
    play.textContent = player.dataset.play;
    play.setAttribute("aria-pressed", "false");
  }

  function start() {
    caption.setAttribute("aria-live", "off");
    play.textContent = player.dataset.pause;
    play.setAttribute("aria-pressed", "true");
    timer = setInterval(() => step(1), calm.matches ? 2000 : 500);
  }

  const step = (by) => show((Number(slider.value) + by + film.frames.length) % film.frames.length);
  play.addEventListener("click", () => (timer === null ? start() : stop()));
  document.getElementById("previous").addEventListener("click", () => { stop(); step(-1); });
  document.getElementById("next").addEventListener("click", () => { stop(); step(1); });
  slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
  document.getElementById("most").textContent = most.toLocaleString();
  show(0);
  document.body.dataset.ready = "yes";
}
