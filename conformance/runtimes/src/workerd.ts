/** Starts a worker on workerd as it is deployed: one bundled module without Node compatibility. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { out } from './bundle.ts'
import { type Program, start } from './programs.ts'

/** The compatibility date of the worker: https://developers.cloudflare.com/workers/configuration/compatibility-dates/ */
const COMPATIBILITY_DATE = '2026-01-01'

export interface Worker {
  readonly program: Program
  readonly url: string
}

/** Serves the bundled module with this name on a free port. */
export async function startWorker(path: string, name: string): Promise<Worker> {
  const config = join(out, `${name}.capnp`)
  writeFileSync(config, configuration(name))
  const program = start(path, ['serve', config, '--control-fd=1'])
  const event = JSON.parse(await program.line(/"event":\s*"listen"/)) as { port: number }
  return { program, url: `http://127.0.0.1:${event.port}` }
}

function configuration(name: string): string {
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "main", esModule = embed "${name}.js")],
      compatibilityDate = "${COMPATIBILITY_DATE}",
      compatibilityFlags = ["enable_request_signal"],
    )),
    # Allows the worker to connect to the other runtimes on this machine.
    (name = "internet", network = (allow = ["private", "public"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`
}
