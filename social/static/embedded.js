// Inside the frame: sends the height of the post to the page around it, so that no scrolling is needed.
(() => {
  "use strict";
  const report = () => {
    window.parent.postMessage({ type: "social:height", height: document.documentElement.offsetHeight }, "*");
  };
  new ResizeObserver(report).observe(document.body);
})();
