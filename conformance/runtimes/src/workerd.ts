/** Starts a worker on workerd itself, as it is deployed: one bundled module, no Node compatibility. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { out } from './bundle.ts'
import { type Program, start } from './programs.ts'

/** From which date on the runtime's behaviour is wanted: https://developers.cloudflare.com/workers/configuration/compatibility-dates/ */
const COMPATIBILITY_DATE = '2026-01-01'

export interface Worker {
  readonly program: Program
  readonly url: string
}

/** Serves the bundled module of this name on a port that is free. */
export async function startWorker(path: string, name: string): Promise<Worker> {
  const config = join(out, `${name}.capnp`)
  writeFileSync(config, configuration(name))
  const program = start(path, ['serve', config, '--control-fd=1'])
  const said = JSON.parse(await program.line(/"event":\s*"listen"/)) as { port: number }
  return { program, url: `http://127.0.0.1:${said.port}` }
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
    # Workers reach only what they are allowed to: here the other runtimes on this machine.
    (name = "internet", network = (allow = ["private", "public"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`
}
