// A server made of @evanp/activitypub-bot: Zoe is on it, keeps what it understood of each activity, and does what she is told to.

import { createServer } from "node:http";
import { createRequire } from "node:module";
import { json } from "node:stream/consumers";

// The library asks for a release of its JSON-LD package that npm does not have. The one before it takes no further contexts,
// has them at one of two places, forgets those of a document, and does not say what is an activity.
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
  // It comes here after its signature was checked. The library goes on with it, since the answer is no.
  async handleActivity(activity) {
    seen.push(await activity.export());
    return false;
  }
  // What is addressed to everybody and to nobody by name, as Delete is, comes here alone.
  async onPublic(activity) {
    seen.push(await activity.export());
  }
}

const zoe = new Zoe("zoe", { fullname: "zoe of activitypub-bot" });
const app = await makeApp({ databaseUrl, origin, bots: { zoe }, allowPrivateNetworkRequests: true });
// It names people without the port, and is asked for them with it.
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
  // As `rewrite`, which does not say when.
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
