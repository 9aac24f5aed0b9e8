# What `wrangler.jsonc` would say, in the words of the runtime itself: `npx workerd serve config.capnp`
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "shop", worker = (
      modules = [(name = "worker", esModule = embed "dist/worker.js")],
      bindings = [(name = "SECRET", fromEnvironment = "SECRET")],
      compatibilityDate = "2026-01-01",
      # Tells handlers, by ctx.signal, of clients that went away.
      compatibilityFlags = ["enable_request_signal"],
    )),
  ],
  sockets = [(name = "http", address = "127.0.0.1:8787", http = (), service = "shop")],
);
