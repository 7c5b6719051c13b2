// Asks the browser for a passkey when a form with data-passkey is sent, and sends the browser's answer. Without JavaScript or
// passkeys these forms stay hidden, and elements marked with data-without-passkeys stay visible.
"use strict";
(() => {
  if (!window.PublicKeyCredential || !navigator.credentials) return;

  const toBytes = (text) => {
    const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
    return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  };
  const toText = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

  const parsed = (options) => {
    const wanted = { ...options.publicKey, challenge: toBytes(options.publicKey.challenge) };
    if (wanted.user) wanted.user = { ...wanted.user, id: toBytes(wanted.user.id) };
    for (const list of ["excludeCredentials", "allowCredentials"]) {
      if (wanted[list]) wanted[list] = wanted[list].map((one) => ({ ...one, id: toBytes(one.id) }));
    }
    return wanted;
  };

  const written = (credential) => {
    const response = {};
    for (const part of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
      if (credential.response[part]) response[part] = toText(credential.response[part]);
    }
    return {
      id: credential.id,
      rawId: toText(credential.rawId),
      type: credential.type,
      response,
      clientExtensionResults: credential.getClientExtensionResults(),
    };
  };

  const optionsOf = async (form) => {
    if (form.dataset.options) return JSON.parse(form.dataset.options);
    const answer = await fetch(form.dataset.optionsUrl, { headers: { "X-Requested-With": "XMLHttpRequest" } });
    return (await answer.json()).request_options;
  };

  const use = async (form) => {
    const failed = form.querySelector('[role="alert"][hidden], [role="alert"][data-failed]');
    const button = form.querySelector('[type="submit"]');
    button.disabled = true;
    failed.hidden = true;
    try {
      const publicKey = parsed(await optionsOf(form));
      const credential = await navigator.credentials[form.dataset.passkey]({ publicKey });
      form.elements.credential.value = JSON.stringify(written(credential));
      form.submit();
    } catch {
      failed.dataset.failed = "";
      failed.hidden = false;
      button.disabled = false;
      button.focus();
    }
  };

  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      use(form);
    });
  }
  for (const note of document.querySelectorAll("[data-without-passkeys]")) note.hidden = true;
})();
