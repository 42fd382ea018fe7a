// The theme button: system, light, dark. Without this script the page follows the system, which is all it needs.
(function () {
  var root = document.documentElement, button = document.getElementById("theme"), themes = ["system", "light", "dark"];
  var stored = null;
  try { stored = localStorage.getItem("posbench-theme"); } catch (refused) { /* pages from disk may not be allowed to */ }
  var now = Math.max(0, themes.indexOf(stored));
  function show() {
    if (now) { root.setAttribute("data-theme", themes[now]); } else { root.removeAttribute("data-theme"); }
    button.textContent = ["◐", "○", "●"][now] + " " + themes[now];
    button.setAttribute("aria-label", "Colours: " + themes[now] + ". Change.");
  }
  button.hidden = false;
  button.addEventListener("click", function () {
    now = (now + 1) % themes.length;
    try { localStorage.setItem("posbench-theme", themes[now]); } catch (refused) { /* as above */ }
    show();
  });
  show();
})();
