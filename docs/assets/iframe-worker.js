/* Search in pages that are opened as files: browsers refuse workers there, so a hidden frame does the work of one.
   The name of this file tells the site's offline plugin that it need not fetch such a script from elsewhere. */
if (location.protocol === "file:") {
  class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      this.inner = this.frame.contentWindow;
      this.inner.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
      this.inner.importScripts = (...urls) => urls.reduce((before, next) => before.then(() => this.load(next)), Promise.resolve());
      this.ready = this.load(new URL(url, location.href).href);
    }

    load(url) {
      return new Promise((done, failed) => {
        const script = this.inner.document.createElement("script");
        script.src = url;
        script.onload = done;
        script.onerror = () => failed(new Error(`cannot load ${url}`));
        this.inner.document.body.append(script);
      });
    }

    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  }
  window.IFrameWorker = window.Worker = FrameWorker;
}
