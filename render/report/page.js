// Shows the line that a link means: #412 is the event 412, or the entry that it is part of.
(function () {
  function show() {
    var id = decodeURIComponent(location.hash.slice(1));
    if (!id) return;
    var target = document.getElementById(id);
    if (!target && /^[0-9]+$/.test(id)) {
      document.querySelectorAll("article[data-last]").forEach(function (entry) {
        if (Number(entry.id.slice(4)) <= Number(id)) target = entry;
      });
    }
    if (!target) return;
    for (var e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", show);
  show();
  var all = document.getElementById("unfold");
  if (all) {
    all.hidden = false;
    all.addEventListener("click", function () {
      var open = all.getAttribute("aria-pressed") !== "true";
      all.setAttribute("aria-pressed", String(open));
      all.textContent = open ? "Fold all iterations" : "Unfold all iterations";
      document.querySelectorAll("details.section").forEach(function (d) { d.open = open; });
    });
  }
})();
