// The search of the theme, with five things more. It is loaded before the theme, which then starts this as its worker.
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
  const plain = query => query.replace(/(^|\s)-+/gu, "$1");

  // What nothing matches may be misspelt: up to one letter in four may be wrong, two in a long word.
  const nearly = query => query.replace(/\w{4,}/gu, word => `${word}~${word.length > 7 ? 2 : 1}`);

  // A name that is typed as it is written leads to its own entry, not to an attribute; words to the title that has them so.
  const meant = (asked, { location, title }) => {
    const [page, name] = location.split("#");
    const own = page.startsWith("reference/") && /^otf(\.[a-z_]+)*$/u.test(name?.slice(0, -asked.length - 1)) && name.endsWith(`.${asked}`);
    return own || (asked.includes(" ") && title.replace(/<[^>]*>/gu, "").toLowerCase().includes(asked.toLowerCase()));
  };

  // What has all of the words is before what has one of them often.
  const worth = (group, asked) => (group.some(each => meant(asked, each)) ? 1e9 : 1)
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
      found.sort((one, other) => worth(other, this.asked) - worth(one, this.asked));
      this.dispatchEvent(new MessageEvent("message", { data: message }));
    }
  };
})();
