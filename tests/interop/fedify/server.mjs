// A small server built with Fedify's libraries. It has a user of every name; tests send commands to /do and read /seen.
//
// node server.mjs PORT SIGNATURES: the kind of signatures to try first, "rfc9421" or "draft-cavage-http-signatures-12".
import { createFederation, generateCryptoKeyPair, InProcessMessageQueue, MemoryKvStore } from "@fedify/fedify";
import * as vocab from "@fedify/vocab";
import { Temporal } from "@js-temporal/polyfill";
import { serve } from "srvx";

const [port, firstKnock] = process.argv.slice(2);
const origin = `http://localhost:${port}`;
const kv = new MemoryKvStore();
const federation = createFederation({
  kv,
  queue: new InProcessMessageQueue({ pollInterval: { milliseconds: 100 } }),
  origin,
  allowPrivateAddress: true,
  firstKnock,
});

const people = new Map(); // by name
const posts = new Map(); // by the last part of the address
const stamps = new Map(); // authorizations of quotes, by the last part of the address
const seen = []; // received activities with a valid signature, and errors
let last = 0;

function person(name) {
  if (!people.has(name)) {
    const keys = Promise.all([generateCryptoKeyPair("RSASSA-PKCS1-v1_5"), generateCryptoKeyPair("Ed25519")]);
    const lists = { followers: new Map(), requests: new Map(), following: new Map() };
    people.set(name, { name, bio: "", keys, locked: name.startsWith("locked"), gone: false, ...lists });
  }
  return people.get(name);
}

async function actor(ctx, name) {
  if (!people.has(name)) return null;
  const { bio, locked, gone } = person(name);
  if (gone) return new vocab.Tombstone({ id: ctx.getActorUri(name) });
  const keys = await ctx.getActorKeyPairs(name);
  return new vocab.Person({
    id: ctx.getActorUri(name),
    preferredUsername: name,
    name: `${name} of Fedify`,
    summary: bio,
    inbox: ctx.getInboxUri(name),
    outbox: ctx.getOutboxUri(name),
    followers: ctx.getFollowersUri(name),
    following: ctx.getFollowingUri(name),
    endpoints: new vocab.Endpoints({ sharedInbox: ctx.getInboxUri() }),
    manuallyApprovesFollowers: locked,
    publicKey: keys[0].cryptographicKey,
    assertionMethods: keys.map((pair) => pair.multikey),
  });
}

federation
  .setActorDispatcher("/users/{identifier}", actor)
  .setKeyPairsDispatcher(async (_ctx, name) => (people.has(name) ? await person(name).keys : []));
federation
  .setFollowersDispatcher("/users/{identifier}/followers", (_ctx, name) => ({
    items: [...person(name).followers.values()],
  }))
  .setCounter((_ctx, name) => BigInt(person(name).followers.size));
federation
  .setFollowingDispatcher("/users/{identifier}/following", (_ctx, name) => ({
    items: [...person(name).following.keys()].map((uri) => new URL(uri)),
  }))
  .setCounter((_ctx, name) => BigInt(person(name).following.size));
federation
  .setOutboxDispatcher("/users/{identifier}/outbox", (ctx, name) => ({
    items: [...posts.values()].filter((post) => post.author === name).map((post) => creation(ctx, post)),
  }))
  .setCounter((_ctx, name) => BigInt([...posts.values()].filter((post) => post.author === name).length));

function object(ctx, { author, id, question, values }) {
  const kind = question ? vocab.Question : vocab.Note;
  return new kind({ id: ctx.getObjectUri(vocab.Note, { id }), attribution: ctx.getActorUri(author), ...values });
}

function creation(ctx, post) {
  const { tos, ccs, published } = post.values;
  const id = new URL(`#create`, ctx.getObjectUri(vocab.Note, { id: post.id }));
  return new vocab.Create({ id, actor: ctx.getActorUri(post.author), tos, ccs, published, object: object(ctx, post) });
}

federation.setObjectDispatcher(vocab.Note, "/posts/{id}", (ctx, { id }) => {
  const post = posts.get(id);
  if (!post) return null;
  return post.gone ? new vocab.Tombstone({ id: ctx.getObjectUri(vocab.Note, { id }) }) : object(ctx, post);
});

federation.setObjectDispatcher(vocab.QuoteAuthorization, "/stamps/{id}", (_ctx, { id }) => stamps.get(id) ?? null);

// Returns the values that Fedify's vocabulary has parsed from a document, as plain JSON.
async function facts(thing, depth = 0) {
  if (thing == null || thing instanceof URL) return thing?.href ?? null;
  const found = { type: thing.constructor.name, id: thing.id?.href ?? null };
  const text = (value) => (value == null ? null : value.toString());
  for (const name of ["name", "content", "summary", "published", "updated", "endTime", "closed", "mediaType", "quoteUrl"])
    if (thing[name] != null) found[name] = text(thing[name]);
  for (const name of ["sensitive", "voters", "width", "height"]) if (thing[name] != null) found[name] = thing[name];
  if (thing.href != null) found.href = thing.href.href;
  if (thing.url != null) found.url = text(thing.url.href ?? thing.url);
  if (thing.contents?.some((each) => each.locale != null))
    found.languages = thing.contents.filter((each) => each.locale).map((each) => each.locale.toString());
  for (const name of ["to", "cc"]) found[name] = (thing[`${name}Ids`] ?? []).map((uri) => uri.href);
  for (const name of ["actor", "object", "target", "attribution", "replyTarget", "quote", "instrument", "result", "likes", "shares", "interactingObject", "interactionTarget", "quoteAuthorization"])
    if (thing[`${name}Id`] != null) found[name] = thing[`${name}Id`].href;
  if (thing.interactionPolicy?.canQuote)
    found.canQuote = thing.interactionPolicy.canQuote.automaticApprovals.map((uri) => uri.href);
  if (thing.getAttachments && thing.attachmentIds) {
    found.attachments = [];
    for await (const each of thing.getAttachments()) found.attachments.push(await facts(each, depth + 1));
  }
  if (thing.getTags) {
    found.tags = [];
    for await (const each of thing.getTags()) found.tags.push(await facts(each, depth + 1));
  }
  if (thing instanceof vocab.Question) {
    found.options = [];
    for await (const each of thing.getExclusiveOptions()) found.options.push(text(each.name));
    for await (const each of thing.getInclusiveOptions()) found.options.push(text(each.name));
  }
  return found;
}

async function received(ctx, activity) {
  const loader = { documentLoader: await ctx.getDocumentLoader({ identifier: ctx.recipient ?? "reader" }), suppressError: true };
  const inner = activity.objectId && !(activity instanceof vocab.Delete) ? await activity.getObject(loader) : null;
  seen.push({ ...(await facts(activity)), inbox: ctx.recipient, understood: inner && (await facts(inner)) });
  return inner;
}

federation
  .setInboxListeners("/users/{identifier}/inbox", "/inbox")
  .setSharedKeyDispatcher(() => ({ identifier: "reader" }))
  .on(vocab.Follow, async (ctx, follow) => {
    await received(ctx, follow);
    const parsed = ctx.parseUri(follow.objectId);
    const follower = await follow.getActor(ctx);
    if (parsed?.type !== "actor" || follower == null) return;
    const target = person(parsed.identifier);
    target.requests.set(follower.id.href, { follow, follower });
    if (!target.locked) await acts.accept(ctx, { as: target.name, who: follower.id.href });
  })
  .on(vocab.Accept, async (ctx, accept) => {
    await received(ctx, accept);
    answered(accept, "accepted");
  })
  .on(vocab.Reject, async (ctx, reject) => {
    await received(ctx, reject);
    answered(reject, "rejected");
  })
  .on(vocab.QuoteRequest, async (ctx, request) => {
    await received(ctx, request);
    const author = ctx.parseUri(request.objectId)?.values?.id;
    const as = posts.get(author).author;
    const id = `${++last}`;
    const uri = ctx.getObjectUri(vocab.QuoteAuthorization, { id });
    const ends = { interactingObject: request.instrumentId, interactionTarget: request.objectId };
    stamps.set(id, new vocab.QuoteAuthorization({ id: uri, attribution: ctx.getActorUri(as), ...ends }));
    const accept = { id: fresh(ctx, as, "accept"), actor: ctx.getActorUri(as), object: request, result: uri };
    await send(ctx, as, [await request.getActor(ctx)], new vocab.Accept(accept));
  })
  .on(vocab.Undo, async (ctx, undo) => {
    const undone = await received(ctx, undo);
    if (!(undone instanceof vocab.Follow)) return;
    const parsed = ctx.parseUri(undone.objectId);
    if (parsed?.type === "actor") person(parsed.identifier).followers.delete(undo.actorId.href);
  })
  .on(vocab.Block, async (ctx, block) => {
    await received(ctx, block);
    const parsed = ctx.parseUri(block.objectId);
    if (parsed?.type !== "actor") return;
    for (const list of ["followers", "following"]) person(parsed.identifier)[list].delete(block.actorId.href);
  })
  .on(vocab.Activity, received)
  .onUnverifiedActivity((_ctx, activity, reason) => {
    seen.push({ type: "unverified", kind: activity.constructor.name, reason: JSON.stringify(reason) });
  })
  .onError((_ctx, error) => {
    seen.push({ type: "error", reason: String(error?.stack ?? error) });
  });

function answered(answer, state) {
  for (const someone of people.values())
    if (someone.following.has(answer.actorId.href)) someone.following.set(answer.actorId.href, state);
}

const everybody = vocab.PUBLIC_COLLECTION;
const fresh = (ctx, as, kind) => new URL(`#${kind}/${++last}`, ctx.getActorUri(as));
const followed = (ctx, as) => ctx.getFollowersUri(as);
const look = async (ctx, as, uri) => {
  const found = await ctx.lookupObject(uri, { documentLoader: await ctx.getDocumentLoader({ identifier: as }) });
  if (found == null) throw new Error(`${uri} is not found`);
  return found;
};

async function send(ctx, as, to, activity) {
  for (const recipients of to)
    await ctx.sendActivity({ identifier: as }, recipients, activity, { preferSharedInbox: recipients === "followers" });
  return { id: activity.id.href };
}

const audience = {
  public: (ctx, as, named) => [[everybody], [followed(ctx, as), ...named]],
  unlisted: (ctx, as, named) => [[followed(ctx, as)], [everybody, ...named]],
  private: (ctx, as, named) => [[followed(ctx, as)], named],
  direct: (_ctx, _as, named) => [named, []],
};

async function concerning(ctx, as, kind, target, more = {}) {
  const it = await look(ctx, as, target);
  const author = it.attributionId ? await look(ctx, as, it.attributionId) : it;
  const activity = new kind({ id: fresh(ctx, as, kind.name), actor: ctx.getActorUri(as), object: it.id, ...more });
  return { activity, author };
}

async function undo(ctx, as, kind, id, target) {
  const { author } = await concerning(ctx, as, kind, target);
  const undone = new kind({ id: new URL(id), actor: ctx.getActorUri(as), object: new URL(target) });
  const activity = new vocab.Undo({ id: fresh(ctx, as, "undo"), actor: ctx.getActorUri(as), object: undone });
  return { activity, author };
}

async function onPost(ctx, { as, id }, kind, more) {
  const post = posts.get(id);
  const values = { tos: post.values.tos, ccs: post.values.ccs };
  const activity = new kind({ id: fresh(ctx, as, kind.name), actor: ctx.getActorUri(as), ...values, ...more(post) });
  return await send(ctx, as, [...post.sentTo], activity);
}

const acts = {
  async person(ctx, { as }) {
    await person(as).keys;
    return { id: ctx.getActorUri(as).href };
  },
  async follow(ctx, { as, target }) {
    const { activity, author } = await concerning(ctx, as, vocab.Follow, target);
    person(as).following.set(author.id.href, "asked");
    return await send(ctx, as, [author], activity);
  },
  async unfollow(ctx, { as, id, target }) {
    const { activity, author } = await undo(ctx, as, vocab.Follow, id, target);
    person(as).following.delete(author.id.href);
    return await send(ctx, as, [author], activity);
  },
  async accept(ctx, { as, who }) {
    const { follow, follower } = person(as).requests.get(who);
    person(as).requests.delete(who);
    person(as).followers.set(who, follower);
    const id = fresh(ctx, as, "accept");
    return await send(ctx, as, [follower], new vocab.Accept({ id, actor: ctx.getActorUri(as), object: follow }));
  },
  async reject(ctx, { as, who }) {
    const { follow, follower } = person(as).requests.get(who);
    person(as).requests.delete(who);
    const id = fresh(ctx, as, "reject");
    return await send(ctx, as, [follower], new vocab.Reject({ id, actor: ctx.getActorUri(as), object: follow }));
  },
  async post(ctx, { as, text, visibility = "public", mention, reply, options, image, quote, warning, language, draft }) {
    const id = `${++last}`;
    const mentioned = mention ? [await look(ctx, as, mention)] : [];
    const [tos, ccs] = audience[visibility](ctx, as, mentioned.map((one) => one.id));
    const content = language ? new vocab.LanguageString(text, language) : text;
    const values = { content, tos, ccs, published: Temporal.Now.instant(), url: new URL(`/posts/${id}`, origin) };
    values.tags = mentioned.map((one) => new vocab.Mention({ href: one.id, name: `@${one.preferredUsername}` }));
    if (text.includes("#fedify"))
      values.tags.push(new vocab.Hashtag({ href: new URL("/tags/fedify", origin), name: "#fedify" }));
    if (reply) values.replyTarget = new URL(reply);
    if (warning) Object.assign(values, { summary: warning, sensitive: true });
    if (image)
      values.attachments = [new vocab.Image({ url: new URL("/pixel.png", origin), mediaType: "image/png", name: image })];
    if (quote) Object.assign(values, { quote: new URL(quote) });
    const automaticApproval = everybody;
    values.interactionPolicy = new vocab.InteractionPolicy({ canQuote: new vocab.InteractionRule({ automaticApproval }) });
    if (options) {
      values.exclusiveOptions = options.map((name) => new vocab.Note({ name, replies: new vocab.Collection({ totalItems: 0 }) }));
      values.endTime = Temporal.Now.instant().add({ hours: 1 });
    }
    const sentTo = [...(visibility === "direct" ? [] : ["followers"]), ...mentioned];
    if (reply) {
      const asked = await look(ctx, as, reply);
      sentTo.push(await look(ctx, as, asked.attributionId));
    }
    const post = { author: as, id, question: Boolean(options), values, sentTo };
    posts.set(id, post);
    if (!draft) await send(ctx, as, sentTo, creation(ctx, post));
    return { id, uri: ctx.getObjectUri(vocab.Note, { id }).href };
  },
  async ask(ctx, { as, id }) {
    const instrument = object(ctx, posts.get(id));
    const { activity, author } = await concerning(ctx, as, vocab.QuoteRequest, instrument.quoteId.href, { instrument });
    return await send(ctx, as, [author], activity);
  },
  async stamp(ctx, { as, id, uri }) {
    Object.assign(posts.get(id).values, { quoteAuthorization: new URL(uri) });
    return await onPost(ctx, { as, id }, vocab.Update, (post) => ({ object: object(ctx, post) }));
  },
  async edit(ctx, { as, id, text }) {
    const { values } = posts.get(id);
    Object.assign(values, { content: text, updated: Temporal.Now.instant() });
    return await onPost(ctx, { as, id }, vocab.Update, (post) => ({ object: object(ctx, post), updated: values.updated }));
  },
  async delete(ctx, { as, id }) {
    posts.get(id).gone = true;
    return await onPost(ctx, { as, id }, vocab.Delete, () => ({
      object: new vocab.Tombstone({ id: ctx.getObjectUri(vocab.Note, { id }) }),
    }));
  },
  async like(ctx, { as, target }) {
    const { activity, author } = await concerning(ctx, as, vocab.Like, target);
    return await send(ctx, as, [author], activity);
  },
  async unlike(ctx, { as, id, target }) {
    const { activity, author } = await undo(ctx, as, vocab.Like, id, target);
    return await send(ctx, as, [author], activity);
  },
  async react(ctx, { as, target, content }) {
    const { activity, author } = await concerning(ctx, as, vocab.EmojiReact, target, { content });
    return await send(ctx, as, [author], activity);
  },
  async boost(ctx, { as, target }) {
    const more = { tos: [everybody], ccs: [followed(ctx, as)], published: Temporal.Now.instant() };
    const { activity, author } = await concerning(ctx, as, vocab.Announce, target, more);
    return await send(ctx, as, [author, "followers"], activity);
  },
  async unboost(ctx, { as, id, target }) {
    const { activity, author } = await undo(ctx, as, vocab.Announce, id, target);
    return await send(ctx, as, [author, "followers"], activity);
  },
  async vote(ctx, { as, target, name }) {
    const question = await look(ctx, as, target);
    const author = await look(ctx, as, question.attributionId);
    const id = fresh(ctx, as, "vote");
    const values = { id, name, attribution: ctx.getActorUri(as), replyTarget: question.id, to: author.id };
    const actorUri = ctx.getActorUri(as);
    const create = { id: new URL(`${id.href}/activity`), actor: actorUri, to: author.id, object: new vocab.Note(values) };
    return await send(ctx, as, [author], new vocab.Create(create));
  },
  async block(ctx, { as, target }) {
    const { activity, author } = await concerning(ctx, as, vocab.Block, target);
    for (const list of ["followers", "following"]) person(as)[list].delete(target);
    return await send(ctx, as, [author], activity);
  },
  async unblock(ctx, { as, id, target }) {
    const { activity, author } = await undo(ctx, as, vocab.Block, id, target);
    return await send(ctx, as, [author], activity);
  },
  async profile(ctx, { as, bio }) {
    person(as).bio = bio;
    const update = { id: fresh(ctx, as, "update"), actor: ctx.getActorUri(as), tos: [everybody], object: await actor(ctx, as) };
    return await send(ctx, as, ["followers"], new vocab.Update(update));
  },
  async leave(ctx, { as }) {
    const uri = ctx.getActorUri(as);
    const gone = { id: fresh(ctx, as, "delete"), actor: uri, tos: [everybody], object: uri };
    return await send(ctx, as, ["followers"], new vocab.Delete(gone));
  },
  async look(ctx, { as, uri }) {
    return await facts(await look(ctx, as, uri));
  },
  async list(ctx, { as, uri }) {
    const documentLoader = await ctx.getDocumentLoader({ identifier: as });
    const found = [];
    for await (const each of ctx.traverseCollection(await look(ctx, as, uri), { documentLoader }))
      found.push(await facts(each));
    return found;
  },
  async signatures(_ctx, { host }) {
    return await kv.get(["_fedify", "httpMessageSignaturesSpec", host]);
  },
  async lists(_ctx, { as }) {
    const { followers, requests, following } = person(as);
    const names = { followers: [...followers.keys()], requests: [...requests.keys()] };
    return { ...names, following: Object.fromEntries(following) };
  },
};

const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

async function answer(request) {
  const { pathname } = new URL(request.url);
  if (pathname === "/seen") return Response.json(seen);
  if (pathname === "/pixel.png") return new Response(pixel, { headers: { "Content-Type": "image/png" } });
  if (pathname !== "/do") return await federation.fetch(request, { contextData: undefined });
  const { act, ...more } = await request.json();
  try {
    await acts.person(federation.createContext(new URL(origin)), more);
    return Response.json(await acts[act](federation.createContext(new URL(origin)), more));
  } catch (error) {
    return Response.json({ error: String(error?.stack ?? error) }, { status: 500 });
  }
}

await acts.person(federation.createContext(new URL(origin)), { as: "reader" });
serve({ fetch: answer, port: Number(port), hostname: "localhost", silent: true });
