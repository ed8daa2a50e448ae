// The engine as WebAssembly in a worker beside the page. Static files have it as engine.js.

async function compiled() {
  const response = await fetch("engine.wasm");
  if (!response.ok) throw new Error(`engine.wasm: ${response.status} ${response.statusText}`);
  // compiled while it comes, where the server says what it is
  const isTyped = response.headers.get("content-type") === "application/wasm";
  return isTyped ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

export class Engine {
  sentence = "All is computed in this page; nothing leaves it.";
  #waiting = new Map();
  #next = 0;
  #module;
  #worker;
  #tell;

  // `tell` shows a message about the engine in place of the last one.
  async load(tell) {
    this.#tell = tell;
    try {
      this.#module = await compiled();
    } catch (error) {
      throw new Error(`${error.message}. A page opened as a file cannot load it; a file server shows it.`);
    }
    await this.#begin();
  }

  #begin() {
    this.#worker = new Worker("worker.js");
    return new Promise((ready, failed) => {
      this.#worker.onmessage = ({ data }) => {
        if (data.ready) return ready();
        if (data.broken !== undefined) {
          failed(new Error(data.broken));
          return this.#restart(data.broken);
        }
        this.#waiting.get(data.id)(JSON.parse(data.answer));
        this.#waiting.delete(data.id);
      };
      this.#worker.onerror = (event) => this.#restart(event.message);
      this.#worker.postMessage({ module: this.#module });
    });
  }

  // A module that has panicked is gone; the next one knows nothing of a simulation that was under way.
  #restart(why) {
    this.#worker.terminate();
    const lost = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#tell(`The engine stopped and was started again. This is a fault of flitwise, please report it:\n${why}`);
    this.#begin().catch(() => {});
    lost.forEach((resolve) => resolve({ fault: "the engine stopped", faults: [] }));
  }

  // The answer to a request; requests are answered in order.
  ask(request) {
    return new Promise((resolve) => {
      const id = this.#next++;
      this.#waiting.set(id, resolve);
      this.#worker.postMessage({ id, request: JSON.stringify(request) });
    });
  }
}
