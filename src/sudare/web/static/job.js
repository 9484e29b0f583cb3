// How far some work is, as the server tells it.
const job = document.getElementById("job");
const share = document.getElementById("share");

function show(event) {
  document.getElementById("stage").textContent = event.stage;
  if (event.share === null) share.removeAttribute("value");
  else share.value = event.share;
  if (event.state === "done") window.location.replace(event.result);
  if (event.state !== "failed") return;
  share.hidden = true;
  document.getElementById("stage").hidden = true;
  const problem = document.getElementById("problem");
  problem.textContent = event.problem;
  problem.hidden = false;
  document.getElementById("back").hidden = false;
}

show(JSON.parse(job.dataset.event));
const stream = new EventSource(`/job/${job.dataset.name}/events`);
stream.addEventListener("message", (message) => {
  const event = JSON.parse(message.data);
  if (event.state === "done" || event.state === "failed") stream.close();
  show(event);
});
