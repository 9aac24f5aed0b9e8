# What `wrangler.jsonc` would say, in the words of the runtime itself: `npx workerd serve config.capnp`
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "handbook", worker = (
      modules = [(name = "worker", esModule = embed "dist/worker.js")],
      compatibilityDate = "2026-01-01",
    )),
  ],
  sockets = [(name = "http", address = "127.0.0.1:8788", http = (), service = "handbook")],
);
