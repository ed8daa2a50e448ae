//! The functions that a browser calls. Texts are UTF-8 in the module's memory.
//!
//! `reserve(length)` gives room for a request. `answer()` takes it and returns the length of the answer, which stands
//! at `answer_at()` until the next call. `now` is imported: milliseconds since any moment. A panic ends the module
//! after it has been told to `panicked`.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::panic;
use std::sync::Arc;
use std::time::Duration;

use rayon::ThreadPoolBuilder;

use crate::Engine;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Milliseconds since any moment.
    safe fn now() -> f64;
    /// Hears the last words.
    fn panicked(at: *const u8, length: usize);
}

/// The engine, the request and the answer.
struct Module {
    engine: Engine,
    request: Vec<u8>,
    answer: String,
}

impl Module {
    fn new() -> Self {
        panic::set_hook(Box::new(|words| {
            let words = words.to_string();
            // SAFETY: the text stays where it is during the call
            unsafe { panicked(words.as_ptr(), words.len()) };
        }));
        // the only thread there is
        let workers = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
        let workers = workers.expect("a pool of the calling thread starts nothing");
        let clock = || Duration::from_secs_f64(now().max(0.0) / 1e3);
        let engine = Engine::new(Arc::new(clock), Arc::new(workers));
        Self { engine, request: Vec::new(), answer: String::new() }
    }
}

thread_local! {
    static MODULE: RefCell<Module> = RefCell::new(Module::new());
}

/// Room for a request of so many bytes.
#[unsafe(no_mangle)]
extern "C" fn reserve(length: usize) -> *mut u8 {
    MODULE.with_borrow_mut(|module| {
        module.request = vec![0; length];
        module.request.as_mut_ptr()
    })
}

/// Answers the request; the length of the answer.
#[unsafe(no_mangle)]
extern "C" fn answer() -> usize {
    MODULE.with_borrow_mut(|module| {
        let request = String::from_utf8_lossy(&module.request);
        module.answer = module.engine.answer(&request);
        module.answer.len()
    })
}

/// Where the answer stands.
#[unsafe(no_mangle)]
extern "C" fn answer_at() -> *const u8 {
    MODULE.with_borrow(|module| module.answer.as_ptr())
}
