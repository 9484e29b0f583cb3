// Shows, of each column, the details that its role asks for.
function show(place) {
  const role = document.querySelector(`[data-role="${place}"]`).value;
  for (const part of document.querySelectorAll(`[data-for="${place}"]`))
    part.hidden = !part.dataset.roles.split(" ").includes(role);
  const corners = document.querySelector(`[data-corners="${place}"]`);
  const area = document.querySelector(`[data-area="${place}"]`).value;
  corners.hidden = area !== "corners";
  document.querySelector(`[data-listed="${place}"]`).hidden = area !== "list";
  const labels = document.querySelector(`[data-labels="${place}"]`);
  labels.hidden = document.querySelector(`[data-list="${place}"]`).value !== "";
}

for (const choice of document.querySelectorAll("[data-role]")) {
  const place = choice.dataset.role;
  for (const selector of [`[data-role="${place}"]`, `[data-area="${place}"]`, `[data-list="${place}"]`])
    document.querySelector(selector).addEventListener("change", () => show(place));
  show(place);
}
