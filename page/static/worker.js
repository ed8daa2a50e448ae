// Runs the engine beside the page: requests and answers are JSON. It never answers out of order.
let engine;
let lastWords = "";

const textAt = (at, length) => new TextDecoder().decode(new Uint8Array(engine.memory.buffer, at, length));

function answer(request) {
  const bytes = new TextEncoder().encode(request);
  const at = engine.reserve(bytes.length);
  new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes);
  const length = engine.answer();
  return textAt(engine.answer_at(), length);
}

onmessage = async ({ data }) => {
  try {
    if (data.module) {
      const page = { now: () => performance.now(), panicked: (at, length) => { lastWords = textAt(at, length); } };
      engine = (await WebAssembly.instantiate(data.module, { page })).exports;
      postMessage({ ready: true });
    } else {
      postMessage({ id: data.id, answer: answer(data.request) });
    }
  } catch (error) {
    postMessage({ broken: lastWords || String(error) });
  }
};
