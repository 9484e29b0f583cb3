// Checks and attacks with one button.
const table = document.getElementById("checks");
const verdict = document.getElementById("verdict");

async function check(form) {
  verdict.className = "";
  verdict.textContent = `${form.dataset.running} …`;
  const answer = await fetch(form.dataset.url, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  if (!answer.ok) {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    verdict.className = "problem";
    verdict.textContent = page.querySelector("[role=alert]")?.textContent ?? answer.statusText;
    return;
  }
  const said = await answer.json();
  verdict.className = said.is_sound ? "good" : "problem";
  verdict.textContent = said.verdict;
  table.hidden = false;
  table.tBodies[0].replaceChildren(
    ...said.checks.map((found) => {
      const row = document.createElement("tr");
      for (const text of [found.label, found.name, found.finding]) row.insertCell().textContent = text;
      return row;
    }),
  );
}

for (const form of document.querySelectorAll("#verify, #attack"))
  form.addEventListener("submit", (event) => { event.preventDefault(); check(form); });
