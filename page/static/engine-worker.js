// The engine as WebAssembly in workers beside the page. Static files have it as engine.js.
//
// It has two modules, so that the first answer waits for one alone: figures and stations are drawn by the other, which is
// loaded when the first of them is asked for.

const DRAWN = ["figures", "figure", "station"];

async function compiled(file) {
  const response = await fetch(file);
  if (!response.ok) throw new Error(`${file}: ${response.status} ${response.statusText}`);
  // compiled while it comes, where the server says what it is
  const isTyped = response.headers.get("content-type") === "application/wasm";
  return isTyped ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

// A module in a worker of its own.
class Module {
  #file;
  #tell;
  #waiting = new Map();
  #next = 0;
  #compiled;
  #worker;

  constructor(file, tell) {
    this.#file = file;
    this.#tell = tell;
  }

  async load() {
    this.#compiled = await compiled(this.#file);
    await this.#begin();
    return this;
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
      this.#worker.postMessage({ module: this.#compiled });
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

  ask(request) {
    return new Promise((resolve) => {
      const id = this.#next++;
      this.#waiting.set(id, resolve);
      this.#worker.postMessage({ id, request: JSON.stringify(request) });
    });
  }
}

export class Engine {
  sentence = "All is computed in this page; nothing leaves it.";
  #tell;
  #answers;
  #pictures = null; // once it is asked for

  // `tell` shows a message about the engine in place of the last one.
  async load(tell) {
    this.#tell = tell;
    this.#answers = new Module("engine.wasm", tell);
    try {
      await this.#answers.load();
    } catch (error) {
      throw new Error(`${error.message}. A page opened as a file cannot load it; a file server shows it.`);
    }
  }

  // The answer to a request; requests are answered in order, those for pictures by themselves.
  async ask(request) {
    if (!DRAWN.includes(request.ask)) return this.#answers.ask(request);
    this.#pictures ??= new Module("pictures.wasm", this.#tell).load();
    try {
      return await (await this.#pictures).ask(request);
    } catch (error) {
      this.#pictures = null;
      return { fault: `pictures cannot be loaded: ${error.message}`, faults: [] };
    }
  }
}
