// A server built with @evanp/activitypub-bot. Its only user, Zoe, stores received activities and obeys commands of the tests.

import { createServer } from "node:http";
import { createRequire } from "node:module";
import { json } from "node:stream/consumers";

// The library depends on a release of its JSON-LD package that npm does not have. The previous release cannot register
// contexts, reads them in only one of two places, forgets those of a document, and lacks `isActivity`. The following lines
// mend this.
const require = createRequire(import.meta.url);
const Loader = require("activitystrea.ms/src/contextloader.js");
const Environment = require("activitystrea.ms/src/environment.js");
const { makeDocLoader } = Loader.prototype;
Loader.prototype.makeDocLoader = () => makeDocLoader.call(Loader.defaultInstance);
Object.defineProperty(Environment.prototype, "origContext", { get() { return this.originalContext; } });
const as2 = require("activitystrea.ms");
as2.registerContext = (url, context) => Loader.defaultInstance.register(url, context);
const reasoner = require("activitystrea.ms/src/reasoner.js");
Object.defineProperty(as2.models.Base.prototype, "isActivity", {
  value() {
    const activity = "https://www.w3.org/ns/activitystreams#Activity";
    return [this.type].flat().some((type) => type && reasoner.node(type).is(activity));
  },
});
const { Bot, makeApp } = await import("@evanp/activitypub-bot");

const [port, databaseUrl] = process.argv.slice(2);
const origin = `http://localhost:${port}`;
const publicly = "https://www.w3.org/ns/activitystreams#Public";
const seen = [];

class Zoe extends Bot {
  // Called with each activity whose signature is valid; false lets the library process it too.
  async handleActivity(activity) {
    seen.push(await activity.export());
    return false;
  }
  // Called with activities that are addressed to the public only, such as Delete; they do not reach `handleActivity`.
  async onPublic(activity) {
    seen.push(await activity.export());
  }
}

const zoe = new Zoe("zoe", { fullname: "zoe of activitypub-bot" });
const app = await makeApp({ databaseUrl, origin, bots: { zoe }, allowPrivateNetworkRequests: true });
// The library leaves the port out of addresses, but other servers look accounts up with the port.
app.locals.formatter.acct = (name) => `acct:${name}@localhost:${port}`;

const context = zoe._context;
const found = async ({ uri }) => await context.getObject(uri);
const ids = async (items) => {
  const named = [];
  for await (const item of items) named.push(item.id);
  return named;
};
const acts = {
  look: async (asked) => await (await found(asked)).export(),
  lists: async () => ({ followers: await ids(context.followers()), following: await ids(context.following()) }),
  follow: async (asked) => await context.followActor(await found(asked)),
  unfollow: async (asked) => await context.unfollowActor(await found(asked)),
  post: async ({ text }) => await context.sendNote(text, { to: publicly, cc: context.getFollowersId() }),
  answer: async (asked) => await context.sendReply(asked.text, await found(asked)),
  like: async (asked) => await context.likeObject(await found(asked)),
  unlike: async (asked) => await context.unlikeObject(await found(asked)),
  boost: async (asked) => await context.announceObject(await found(asked)),
  unboost: async (asked) => await context.unannounceObject(await found(asked)),
  rewrite: async (asked) => await context.updateNote(await found(asked), asked.text),
  // Like `rewrite`, but with a date, which `rewrite` does not send.
  edit: async (asked) => {
    const object = { ...(await (await found(asked)).export()), content: asked.text, updated: new Date().toISOString() };
    return await context.doActivity({ type: "Update", object, to: object.to, cc: object.cc });
  },
  delete: async (asked) => await context.deleteNote(await found(asked)),
};

async function control(request) {
  if (request.url === "/seen") return seen;
  const { act, ...asked } = await json(request);
  const done = await acts[act](asked);
  return done.export ? { id: done.id } : done;
}

const server = createServer(async (request, response) => {
  if (!["/seen", "/do"].includes(request.url)) return app(request, response);
  let status = 200;
  const answer = await control(request).catch((error) => ((status = 500), { error: String(error?.stack ?? error) }));
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
});
server.listen(Number(port), "localhost");
