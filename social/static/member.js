// Makes pages quicker to use: actions without a new page, updates by the streaming API, keyboard shortcuts, pasted pictures, and
// a counter for the length of a text. All pages work without this script, too.
const find = (selector, within = document) => within.querySelector(selector);
const words = find("#member-script").dataset;

const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

const said = make("p", { class: "visually-hidden", role: "status" });
document.body.append(said);
const say = (text) => (said.textContent = text);
const focusOn = (post, options) => {
  post.tabIndex = -1;
  post.focus(options);
};
const pageOf = async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html");

// Actions: the form is sent in the background. Unless the answer is 204, it is submitted as usual.

const plain = new WeakSet();

// The name of a button, without its number.
const nameOf = (button) => button.getAttribute("aria-label").replace(/: \d+$/, "");

const turn = (button) => {
  const name = button.value.replace(/^un/, "");
  const pressed = button.value === name;
  const form = CSS.escape(button.form.getAttribute("action"));
  for (const each of document.querySelectorAll(`form[action="${form}"] .act[aria-pressed][value$="${name}"]`)) {
    each.setAttribute("aria-pressed", pressed);
    each.value = pressed ? `un${name}` : name;
    const figure = each.textContent.trim();
    if (name === "bookmark" || !/^\d*$/.test(figure)) continue;
    each.textContent = Math.max(0, +figure + (pressed ? 1 : -1)) || "";
    each.setAttribute("aria-label", nameOf(each) + (each.textContent && `: ${each.textContent}`));
  }
  say(`${nameOf(button)}: ${pressed ? words.done : words.undone}`);
};

document.addEventListener("submit", async (event) => {
  const form = event.target;
  const button = event.submitter;
  if (!form.matches(".acts") || !button?.hasAttribute("aria-pressed") || plain.delete(form)) return;
  event.preventDefault();
  if (button.hasAttribute("aria-busy")) return;
  button.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(form.getAttribute("action"), {
      method: "POST",
      body: new FormData(form, button),
      headers: { Prefer: "return=minimal" },
      redirect: "manual",
    });
    button.removeAttribute("aria-busy");
    if (answer.status === 204) {
      turn(button);
    } else {
      plain.add(form);
      form.requestSubmit(button);
    }
  } catch {
    button.removeAttribute("aria-busy");
    say(words.failed);
  }
});

// Keyboard shortcuts; single letters can be switched off (WCAG 2.1.4).

const POST = "article.post[id]";
const KEYS = ["j", "k", "r", "b", "f", "help"];
const isOff = () => localStorage.getItem("keys") === "off";
let last = null;
let dialog = null;

const current = () => document.activeElement?.closest(POST) ?? (last?.isConnected ? last : null);

const step = (by) => {
  const posts = [...document.querySelectorAll(POST)].filter((post) => post.getClientRects().length);
  const place = posts.indexOf(current());
  const next = place < 0 ? posts.find((post) => post.getBoundingClientRect().bottom > 0) : posts[place + by];
  if (!next) return;
  last = next;
  focusOn(next, { preventScroll: true });
  next.scrollIntoView({ block: "start" });
};

const help = () => {
  if (!dialog) {
    const list = make("dl", { class: "keys" });
    for (const key of KEYS) list.append(make("div", {}, make("dt", {}, make("kbd", {}, key === "help" ? "?" : key)), make("dd", {}, words[key])));
    const box = make("input", { type: "checkbox", id: "keys-on" });
    box.checked = !isOff();
    box.addEventListener("change", () => localStorage.setItem("keys", box.checked ? "on" : "off"));
    dialog = make(
      "dialog",
      { class: "card", "aria-labelledby": "keys-title" },
      make("h2", { id: "keys-title" }, words.keys),
      list,
      make("div", { class: "field check" }, box, " ", make("label", { for: "keys-on" }, words.on)),
      make("form", { method: "dialog", class: "actions" }, make("button", { class: "button" }, words.close)),
    );
    document.body.append(dialog);
  }
  dialog.showModal();
};

const ACTS = { r: ".reply", b: "button.boost", f: "button.favourite" };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.defaultPrevented || isOff()) return;
  if (event.target.closest("input, textarea, select, [contenteditable], dialog")) return;
  if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
  else if (event.key === "?") help();
  else if (Object.hasOwn(ACTS, event.key)) current()?.querySelector(`.acts > ${ACTS[event.key]}`)?.click();
  else return;
  event.preventDefault();
});
find("[data-keys]")?.addEventListener("click", help);

// The length of a post, counted as on the server.

const segmenter = Intl.Segmenter && new Intl.Segmenter();
const lengthOf = (text) => (segmenter ? [...segmenter.segment(text)].length : [...text].length);
const counted = (text) =>
  text
    .replace(/https?:\/\/(?:\([^\s()]*\)|[^\s()<>"])*(?:\([^\s()]*\)|[^\s.,;:!?'"()<>[\]{}…])/giu, "x".repeat(23))
    .replace(/(?<![\p{L}\p{N}_/@])@(\w+(?:[\w.-]*\w)?)@[\p{L}\p{N}.-]*[\p{L}\p{N}]/giu, "@$1");

document.addEventListener("input", ({ target }) => {
  const text = target.form?.querySelector("textarea[data-limit]");
  if (!text || (target !== text && target.name !== "spoiler_text")) return;
  const limit = +text.dataset.limit;
  const length = lengthOf((text.form.elements.spoiler_text?.value ?? "") + counted(text.value));
  let counter = find(".counter", text.parentElement);
  if (!counter) text.after((counter = make("p", { class: "hint counter" })));
  const tooLong = length > limit;
  if (tooLong && !counter.classList.contains("over")) say(words.long);
  counter.classList.toggle("over", tooLong);
  counter.textContent = `${length} / ${limit}`;
});

// Pasted or dropped pictures. The short form has no fields for files, so it opens the complete form.

const listOf = (file) => {
  const transfer = new DataTransfer();
  transfer.items.add(file);
  return transfer.files;
};

const take = (form, files) => {
  const places = [...form.querySelectorAll("input[type=file]")].filter((input) => !input.files.length);
  if (form.enctype === "multipart/form-data") {
    for (const file of files) {
      const place = places.shift();
      if (!place) return say(words.full);
      place.files = listOf(file);
      place.closest("details").open = true;
      place.closest(".attached").querySelector("textarea").focus();
      say(file.name);
    }
  } else {
    const more = find("[name=act][value=attach]", form);
    files.slice(0, 4).forEach((file, place) => {
      const input = make("input", { type: "file", name: `file_${place}`, hidden: "" });
      input.files = listOf(file);
      form.append(input);
    });
    form.enctype = "multipart/form-data";
    form.noValidate = true;
    form.requestSubmit(more);
  }
};

const writingOf = (event) => event.target.closest?.("form:has([data-limit])");

document.addEventListener("paste", (event) => {
  const form = writingOf(event);
  const files = [...event.clipboardData.files];
  // Text editors add a picture of the copied text.
  if (!form || !files.length || event.clipboardData.types.includes("text/plain")) return;
  event.preventDefault();
  take(form, files);
});
document.addEventListener("dragover", (event) => {
  if (writingOf(event) && event.dataTransfer.types.includes("Files")) event.preventDefault();
});
document.addEventListener("drop", (event) => {
  const form = writingOf(event);
  if (!form || !event.dataTransfer.files.length) return;
  event.preventDefault();
  take(form, [...event.dataTransfer.files]);
});

// Updates: the numbers of posts and notifications since the page was loaded.

const refresh = find(".refresh");
const bell = find('.bar a[href="/notifications"]');
const title = document.title;
const posts = new Set();
const groups = new Set();

const showPosts = () => {
  const text = posts.size ? words.new.replace("%s", posts.size) : "";
  let place = find("strong", refresh);
  if (!place) refresh.prepend((place = make("strong")), " ");
  if (text || place.textContent) place.textContent = text;
  document.title = posts.size ? `(${posts.size}) ${title}` : title;
};

const showNotification = ({ group_key: group, id }) => {
  if (!bell || groups.has(group ?? id)) return;
  groups.add(group ?? id);
  let count = find(".count", bell);
  if (!count) bell.append((count = make("b", { class: "count" }, "0", make("span", { class: "visually-hidden" }, ` ${words.unread}`))));
  const figure = count.firstChild;
  if (/^\d+$/.test(figure.data.trim())) figure.data = +figure.data + 1;
};

// A thread: new replies. The stream has only replies by people whom the reader follows, or to the reader. For other replies,
// the page is fetched again.

const thread = find("main > .current");
let renewal = 0;

// Only adds posts: the reader loses neither their position nor the text they have typed.
const grow = (page) => {
  let added = 0;
  for (const section of page.querySelectorAll("main > .thread")) {
    const kind = section.classList.contains("tree") ? ".tree" : ":not(.tree)";
    const here = find(`main > .thread${kind}`);
    if (!here) {
      added += section.querySelectorAll(POST).length;
      if (kind === ".tree") find("main").append(section);
      else thread.before(section);
      continue;
    }
    let before = find(":scope > h2", here);
    for (const part of [...section.children]) {
      const post = part.matches(POST) ? part : find(POST, part);
      if (!post) continue;
      const known = document.getElementById(post.id);
      if (!known) {
        if (before) before.after(part);
        else here.prepend(part);
        added += 1;
      }
      before = known ? (known.closest(".depth") ?? known) : part;
    }
  }
  if (!find("[data-fetching]", page)) find("[data-fetching]")?.remove();
  const figures = find("main > .figures");
  if (!figures.contains(document.activeElement)) figures.replaceWith(find("main > .figures", page));
  if (added) say(words.new.replace("%s", added));
};

const renewIn = (milliseconds) => {
  clearTimeout(renewal);
  renewal = setTimeout(async () => {
    if (!document.hidden) {
      const answer = await fetch(location.href).catch(() => null);
      const page = answer?.ok && (await pageOf(answer));
      if (page && find("main > .current", page)) grow(page);
    }
    renewIn(find("[data-fetching]") ? 3000 : 60_000);
  }, milliseconds);
};
if (thread) renewIn(find("[data-fetching]") ? 3000 : 60_000);

const isAnswerHere = (post) => post?.in_reply_to_id && document.getElementById(`post-${post.in_reply_to_id}`);

const receive = ({ event, payload }) => {
  if (event === "notification") showNotification(JSON.parse(payload));
  if (thread && (event === "update" || event === "notification")) {
    const found = JSON.parse(payload);
    if (isAnswerHere(event === "update" ? found : found.status)) renewIn(500);
  }
  if (!refresh) return;
  if (event === "update") {
    const { id } = JSON.parse(payload);
    if (!document.getElementById(`post-${id}`)) posts.add(id);
    watch();
  } else if (!(event === "delete" && posts.delete(payload))) return;
  showPosts();
};

// Insert the new posts above the first one, if they are `wanted` or the reader is watching; return whether it worked.
const load = async (link, wanted) => {
  const page = await pageOf(await fetch(link.href));
  const found = [...page.querySelectorAll(POST)];
  const fresh = found.filter((post) => !document.getElementById(post.id));
  const renewed = find(".refresh a", page);
  // Signed out, or the new posts fill more than one page.
  if (!renewed || fresh.length === found.length) return false;
  if (!wanted && !watches()) return true;
  find(POST).before(...fresh);
  link.href = renewed.getAttribute("href");
  posts.clear();
  showPosts();
  find("strong", refresh).textContent = find(".refresh strong", page)?.textContent ?? "";
  if (wanted && fresh.length) focusOn(fresh[0]);
  return true;
};

refresh?.addEventListener("click", async (event) => {
  const link = event.target.closest("a");
  if (!link || !find(POST) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (!(await load(link, true).catch(() => false))) location.assign(link.href);
});

// New posts are inserted at most every ten seconds if the reader is watching the top of the page. Otherwise they are only counted.

const BUSY = ".menu[open], .writing[open], dialog[open], main :is(a, button, summary):hover";
const still = matchMedia("(prefers-reduced-motion: reduce)");
const watches = () =>
  "live" in words && scrollY < 50 && !document.hidden && !still.matches && document.activeElement === document.body && !find(BUSY);
let watched = 0;
let next = 0;

const watch = () => {
  if (watched || !watches() || !find(POST)) return;
  // The random delay spreads the requests of all readers.
  watched = setTimeout(() => {
    watched = 0;
    if (!posts.size || !watches()) return;
    next = Date.now() + 10_000;
    load(find("a", refresh), false).catch(() => false);
  }, Math.max(500 + 500 * Math.random(), next - Date.now()));
};

let socket = null;
let timer = 0;
let failures = 0;

const listen = () => {
  if (!words.stream || socket || document.hidden) return;
  let opened = Infinity;
  const own = new WebSocket(`${words.stream}/api/v1/streaming?stream=${refresh || thread ? "user" : "user:notification"}`);
  socket = own;
  own.addEventListener("open", () => {
    opened = Date.now();
    words.state = "open";
  });
  own.addEventListener("message", ({ data }) => receive(JSON.parse(data)));
  own.addEventListener("close", () => {
    if (socket !== own) return;
    socket = null;
    words.state = "closed";
    failures = Date.now() - opened > 60_000 ? 0 : failures + 1;
    // After nine failures, the reader is signed out or there are no streams.
    if (failures < 9) later(2 ** failures * (500 + 500 * Math.random()));
  });
};
const later = (milliseconds) => {
  clearTimeout(timer);
  timer = setTimeout(listen, milliseconds);
};
const stop = () => {
  clearTimeout(timer);
  const ended = socket;
  socket = null;
  ended?.close();
};

document.addEventListener("visibilitychange", () => (document.hidden ? stop() : later(500)));
addEventListener("pagehide", stop);
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) later(500);
  // A form with a text that the browser restored is opened.
  const text = find(".writing:not([open]) textarea");
  if (text?.value) text.closest("details").open = true;
});
// Readers who leave within a second need no stream.
later(1000);
