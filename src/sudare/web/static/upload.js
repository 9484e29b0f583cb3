// Files that are dropped on the page, or chosen: copied to this machine's folder, then looked at.
const drop = document.getElementById("drop");
const chosen = document.getElementById("upload");
const state = document.getElementById("upload-state");

async function copy(file) {
  state.textContent = `${drop.dataset.running}: ${file.name}`;
  const answer = await fetch(`/files/${encodeURIComponent(file.name)}`, { method: "PUT", body: file });
  const said = await answer.json();
  if (said.next) window.location.assign(said.next);
  else state.textContent = said.problem;
}

drop.addEventListener("submit", (event) => event.preventDefault());
chosen.addEventListener("change", () => chosen.files.length && copy(chosen.files[0]));
for (const name of ["dragover", "dragenter"])
  drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
drop.addEventListener("drop", (event) => {
  event.preventDefault();
  if (event.dataTransfer.files.length) copy(event.dataTransfer.files[0]);
});
