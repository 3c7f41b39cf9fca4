"use strict";
(function () {
  var table = document.getElementById("context");
  if (!table) return;
  var body = table.tBodies[0];
  var heads = Array.prototype.slice.call(table.tHead.rows[0].cells);
  heads.forEach(function (th, col) {
    var button = th.querySelector("button");
    if (!button) return;
    button.addEventListener("click", function () {
      var down = th.getAttribute("aria-sort") === "ascending";
      heads.forEach(function (h) { h.removeAttribute("aria-sort"); });
      th.setAttribute("aria-sort", down ? "descending" : "ascending");
      var rows = Array.prototype.slice.call(body.rows);
      rows.sort(function (a, b) {
        var x = a.cells[col].dataset.v, y = b.cells[col].dataset.v;
        var order = th.dataset.kind === "number" ? x - y : (x < y ? -1 : x > y ? 1 : 0);
        return (down ? -order : order) || a.dataset.rank - b.dataset.rank;
      });
      rows.forEach(function (r) { body.appendChild(r); });
    });
  });
  var filter = document.getElementById("filter"), shown = document.getElementById("shown");
  filter.addEventListener("input", function () {
    var want = filter.value.toLowerCase(), n = 0;
    Array.prototype.forEach.call(body.rows, function (r) {
      r.hidden = r.textContent.toLowerCase().indexOf(want) < 0;
      if (!r.hidden) n++;
    });
    shown.textContent = n + " of " + body.rows.length;
  });
})();
