// The engine in the server that the page is from, `flitwise serve`, which has it as engine.js.

const AGAIN_MILLISECONDS = 1_000;
const SESSION = "flitwise-session";
const LAPSED = 410;
const BUSY = 503;

export class Engine {
  sentence = `All is computed by flitwise serve at ${location.host}; the page asks nobody else.`;
  #last = Promise.resolve();
  #session = null;
  #isLost = false;
  #tell;

  // `tell` shows a message about the engine in place of the last one.
  async load(tell) {
    this.#tell = tell;
    // a simulation that nobody sees makes room for another
    addEventListener("pagehide", () => { if (this.#session) this.#send({ ask: "simulate_stop" }).catch(() => {}); });
  }

  // The answer to a request; the next one is sent once it is there.
  ask(request) {
    this.#last = this.#last.then(() => this.#answer(request));
    return this.#last;
  }

  async #answer(request) {
    for (;;) {
      try {
        const response = await this.#send(request);
        const text = await response.text();
        if (this.#isLost) this.#tell("");
        this.#isLost = false;
        this.#session = response.status === LAPSED ? null : response.headers.get(SESSION) ?? this.#session;
        if (response.ok) return JSON.parse(text);
        // a session holds nothing but its simulation: all else is asked again in a new one
        const isOfSimulation = ["simulate_step", "simulate_stop"].includes(request.ask);
        if (response.status !== LAPSED || isOfSimulation) return { fault: text.trim(), faults: [], isBusy: response.status === BUSY };
      } catch {
        this.#isLost = true;
        this.#tell(`There is no answer from flitwise serve at ${location.host}; it is asked again until there is one.`);
        await new Promise((over) => { setTimeout(over, AGAIN_MILLISECONDS); });
      }
    }
  }

  #send(request) {
    const headers = { "content-type": "application/json" };
    if (this.#session) headers[SESSION] = this.#session;
    // what a page asks on leaving is sent although it is gone
    const keepalive = request.ask === "simulate_stop";
    return fetch("engine", { method: "POST", headers, body: JSON.stringify(request), keepalive });
  }
}
