// For pages of other sites: replaces the quotations of this server's posts (oEmbed) with frames.
(() => {
  "use strict";
  const origin = new URL(document.currentScript.src).origin;
  const frames = new Set();

  window.addEventListener("message", ({ origin: from, source, data }) => {
    if (from !== origin || !data || data.type !== "social:height" || !Number.isFinite(data.height)) return;
    for (const frame of frames) {
      if (frame.contentWindow === source) frame.style.height = `${Math.min(Math.max(data.height, 60), 5000)}px`;
    }
  });

  const show = (quotation) => {
    const url = new URL(quotation.dataset.embedUrl, origin);
    if (url.origin !== origin) return;
    const frame = document.createElement("iframe");
    frame.src = url.href;
    frame.title = quotation.textContent.trim();
    frame.loading = "lazy";
    frame.sandbox = "allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox";
    frame.style.cssText = `${quotation.style.cssText}; padding: 0; width: 100%; height: 300px;`;
    frames.add(frame);
    quotation.replaceWith(frame);
  };

  const showAll = () => document.querySelectorAll("blockquote.mastodon-embed[data-embed-url]").forEach(show);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", showAll);
  else showAll();
})();
