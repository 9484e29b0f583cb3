// The way back from a problem: to the form as it was filled in, which a fresh page would have lost.
document.getElementById("back").addEventListener("click", (event) => {
  if (!document.referrer || window.history.length < 2) return;
  event.preventDefault();
  window.history.back();
});
