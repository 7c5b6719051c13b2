// Shows the OpenAPI document. An OAuth application is registered when a person first signs in here, and stored in this browser.
"use strict";
(() => {
  const place = document.getElementById("api");
  const { document: url, name, back } = place.dataset;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const paint = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", paint);
  paint();

  const oauth2RedirectUrl = new URL(back, location.href).href;
  const scopes = "read write follow push profile crypto admin:read admin:write";
  const findApplication = async () => {
    const kept = JSON.parse(localStorage.getItem("api-docs-application") || "null");
    // If the server no longer knows the application, as after the restore of a backup, another one is registered.
    const known = kept && (await fetch("/oauth/token", { method: "POST", body: new URLSearchParams({
      grant_type: "client_credentials", client_id: kept.client_id, client_secret: kept.client_secret }) }));
    if (known && known.ok) return kept;
    const answer = await fetch("/api/v1/apps", { method: "POST", body: new URLSearchParams({
      client_name: `API (${name})`, redirect_uris: oauth2RedirectUrl, scopes }) });
    if (!answer.ok) throw new Error(`No application could be registered: ${answer.status}`);
    const { client_id, client_secret } = await answer.json();
    localStorage.setItem("api-docs-application", JSON.stringify({ client_id, client_secret }));
    return { client_id, client_secret };
  };

  const ui = SwaggerUIBundle({
    url,
    domNode: place,
    oauth2RedirectUrl,
    deepLinking: true,
    docExpansion: "none",
    defaultModelsExpandDepth: -1,
    filter: true,
    validatorUrl: null,
    plugins: [{ statePlugins: { auth: { wrapActions: {
      showDefinitions: (show) => async (definitions) => {
        if (definitions) {
          try {
            const { client_id: clientId, client_secret: clientSecret } = await findApplication();
            ui.initOAuth({ clientId, clientSecret, scopes: "read write follow", usePkceWithAuthorizationCodeGrant: true });
          } catch (error) {
            console.warn(error);
          }
        }
        return show(definitions);
      },
    } } } }],
  });
})();
