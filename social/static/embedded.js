// Inside the frame: tells the page around it how high the post is, so that nothing has to be scrolled.
(() => {
  "use strict";
  const report = () => {
    window.parent.postMessage({ type: "social:height", height: document.documentElement.offsetHeight }, "*");
  };
  new ResizeObserver(report).observe(document.body);
})();
