// Verification and attacks with one button, one after the other.
async function check(form, place) {
  const [said, table] = [place.querySelector("[role=status]"), place.querySelector("table")];
  place.hidden = false;
  table.hidden = true;
  said.className = "";
  said.textContent = `${form.dataset.running} …`;
  const answer = await fetch(place.dataset.url, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  if (!answer.ok) {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    said.className = "problem";
    said.textContent = page.querySelector("[role=alert]")?.textContent ?? answer.statusText;
    return;
  }
  const found = await answer.json();
  said.className = found.is_sound ? "good" : "problem";
  said.textContent = found.verdict;
  table.hidden = found.checks.length === 0;
  table.tBodies[0].replaceChildren(
    ...found.checks.map((one) => {
      const row = document.createElement("tr");
      row.className = one.outcome;
      for (const text of [one.label, one.name, one.finding]) row.insertCell().textContent = text;
      return row;
    }),
  );
}

const form = document.getElementById("verify");
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    for (const place of document.querySelectorAll(".checks")) await check(form, place);
    document.body.dataset.checked = "yes";
  } finally {
    button.disabled = false;
  }
});
