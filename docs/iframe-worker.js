// The search of the theme, with seven things more. It is loaded before the theme, which then starts this as its worker.
(() => {
  // Browsers start no worker from a disk: there it runs in a frame, with the same two functions.
  const framed = (address, told) => {
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.documentElement.append(frame);
    const inner = frame.contentWindow;
    inner.postMessage = data => told({ data });
    const script = inner.document.createElement("script");
    script.src = address;
    const loaded = new Promise(done => { script.onload = done; });
    inner.document.head.append(script);
    return data => loaded.then(() => inner.dispatchEvent(new MessageEvent("message", { data })));
  };

  const working = (address, told) => {
    const worker = new Threaded(address);
    worker.onmessage = told;
    return data => worker.postMessage(data);
  };

  // An option is looked for with its hyphens, which would leave out what has the word.
  // Words that are everywhere are not looked for beside others, nor are letters and digits; a message has signs, too.
  const COMMON = new Set(["a", "an", "and", "are", "as", "at", "be", "but", "by", "can", "cannot", "do", "does", "for", "has",
    "have", "how", "i", "if", "in", "is", "it", "its", "my", "no", "not", "of", "on", "or", "that", "the", "there", "this",
    "to", "was", "what", "when", "where", "which", "why", "with", "you", "your"]);
  const plain = query => {
    const bare = /\s.+\s/u.test(query) ? query.replace(/[^\p{L}\p{N}_.-]+|\.(?!\w)/gu, " ").trim() : query;
    const words = bare.replace(/(^|\s)-+/gu, "$1").split(/\s+/u);
    const rare = words.filter(word => !COMMON.has(word.toLowerCase()) && /\p{L}{3}/u.test(word));
    return (rare.length ? rare : words).join(" ");
  };

  // What nothing matches may be misspelt: up to one letter in four may be wrong, two in a long word.
  const nearly = query => query.replace(/\w{4,}/gu, word => `${word}~${word.length > 7 ? 2 : 1}`);

  // What has the words as they were typed: a title, or a text of more than two words, such as an error.
  const has = (html, asked) => html.replace(/<[^>]*>/gu, "").toLowerCase().includes(asked.toLowerCase());
  const quoted = (asked, { title, text, location }) => {
    if (/\s/u.test(asked) && has(title, asked)) return 1e13;
    if (location.startsWith("messages.html") && says(asked.toLowerCase(), text)) return 1e11;
    return /\s.+\s/u.test(asked) && has(text, asked) ? 1e9 : 0;
  };

  // A message has values where its page has dots: what was typed has most of the words around these, in their order, or
  // begins with some of them.
  const says = (asked, html) => html.toLowerCase().split("<li>").some(line => {
    let end = 0, same = 0, begins = false;
    for (const part of line.replace(/<[^>]*>/gu, "").split(/…|: |; /u).map(each => each.replace(/^[\s,]+|\s+$/gu, "")).filter(each => each.length > 3)) {
      const at = asked.indexOf(part, end);
      if (at >= 0) [end, same] = [at + part.length, same + part.length];
      begins ||= at === 0 && part.length >= 12;
    }
    return same >= 12 && (5 * same >= 2 * asked.length || begins);
  });

  // A name that is typed as it is written leads to its own entry, not to an attribute; so does an option, first that of
  // `otf run`.
  const meant = (asked, { location, title }) => {
    const [page, name] = location.split("#");
    const own = page.startsWith("reference/") && /^otf(\.[a-z_]+)*$/u.test(name?.slice(0, -asked.length - 1)) && name.endsWith(`.${asked}`);
    // a plain word is rather meant as one
    if (own && (/[A-Z_.]/u.test(asked) || page === "reference/otf.html")) return 1e12;
    const option = page === "commands.html" && asked.startsWith("--") && has(title, asked);
    return option ? 1e12 * (name.startsWith("run-") ? 2 : 1) : 0;
  };

  // What has all of the words is before what has one of them often.
  const worth = (asked, group) => Math.max(...group.map(each => meant(asked, each) || quoted(asked, each) || 1))
    * Math.max(...group.map(each => each.score * Object.values(each.terms).filter(Boolean).length ** 3));

  const Threaded = window.Worker;
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const start = location.protocol === "file:" ? framed : working;
      this.send = start(address, ({ data }) => this.take(data));
    }

    postMessage(message) {
      this.asked = message.type === 2 ? message.data.trim() : "";
      this.again = message.type === 2 ? nearly(plain(message.data)) : "";
      this.send(message.type === 2 ? { ...message, data: plain(message.data) } : message);
    }

    take(message) {
      const found = message.type === 3 ? message.data.items : [];
      if (message.type === 3 && !found.length && this.again) {
        this.send({ type: 2, data: this.again });
        this.again = "";
        return;
      }
      const worths = new Map(found.map(group => [group, worth(this.asked, group)]));
      found.sort((one, other) => worths.get(other) - worths.get(one));
      for (const group of found) {
        for (const each of group) each.score *= worth(this.asked, [each]);
        group.sort((one, other) => other.score - one.score);
        // the page itself is shown first, and has none of the words: its link marks those of its best part
        for (const each of group) if (!Object.values(each.terms).some(Boolean)) each.terms = group[0].terms;
      }
      this.dispatchEvent(new MessageEvent("message", { data: message }));
    }
  };
})();
