// An OpenID Connect issuer built with oidc-provider: its own sign-in form accepts any username without a password.
//
// node server.mjs PORT SITE: SITE is the address of the server whose users sign in here.
import http from "node:http";
import Provider from "oidc-provider";

const [port, site] = process.argv.slice(2);

const provider = new Provider(`http://localhost:${port}`, {
  clients: [
    {
      client_id: "social",
      client_secret: "a secret of the client", // for tests only
      redirect_uris: [`${site}/auth/with/org/callback`],
      post_logout_redirect_uris: [`${site}/auth/sign_in`],
      grant_types: ["authorization_code"],
      response_types: ["code"],
    },
  ],
  claims: {
    openid: ["sub"],
    profile: ["name", "preferred_username"],
    email: ["email", "email_verified"],
    groups: ["groups"],
  },
  scopes: ["openid", "profile", "email", "groups"],
  cookies: { keys: ["a key of a test"] },
  features: { devInteractions: { enabled: true } },
  pkce: { required: () => true },
  async findAccount(_ctx, id) {
    const person = { sub: id, preferred_username: id, email: `${id}@org.example`, email_verified: true };
    return { accountId: id, claims: async () => ({ ...person, groups: id === "mona" ? ["mods"] : [] }) };
  },
});

const answer = provider.callback();
http
  .createServer((request, response) => {
    if (request.url === "/seen") response.end("[]");
    else answer(request, response);
  })
  .listen(Number(port));
