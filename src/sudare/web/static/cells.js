// A cell that is chosen is told of beside the table; without this script its link leads to a page of its own.
const place = document.getElementById("cell-facts");

for (const link of document.querySelectorAll("a[data-cell]"))
  link.addEventListener("click", async (event) => {
    event.preventDefault();
    document.querySelector("td[aria-current]")?.removeAttribute("aria-current");
    link.closest("td").setAttribute("aria-current", "true");
    const answer = await fetch(link.href);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    place.replaceChildren(document.adoptNode(page.querySelector("#cell") ?? page.querySelector("[role=alert]")));
    place.scrollIntoView({ block: "nearest" });
  });

for (const form of document.querySelectorAll("form[data-working]"))
  form.addEventListener("submit", () => {
    const button = form.querySelector("button");
    button.disabled = true;
    button.textContent = form.dataset.working;
  });
