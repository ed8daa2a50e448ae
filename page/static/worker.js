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

// What the module wants of a page: a clock, and a place for its last words. A method that only the planner takes, which
// is not asked here, brings further imports that nothing calls.
function imports(module) {
  const page = { now: () => performance.now(), panicked: (at, length) => { lastWords = textAt(at, length); } };
  const all = { page };
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    all[from] ??= {};
    all[from][name] ??= () => { throw new Error(`${name} is not there`); };
  }
  return all;
}

onmessage = async ({ data }) => {
  try {
    if (data.module) {
      engine = (await WebAssembly.instantiate(data.module, imports(data.module))).exports;
      postMessage({ ready: true });
    } else {
      postMessage({ id: data.id, answer: answer(data.request) });
    }
  } catch (error) {
    postMessage({ broken: lastWords || String(error) });
  }
};
