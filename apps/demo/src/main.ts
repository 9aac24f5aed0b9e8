/** Serves trains, shows what clients of both eras say to them, and goes on serving. `npm start -- --help` lists the options. */
import { parseArgs } from 'node:util'
import { serveHttp } from '@mcpx/transport-http/node'
import { serveStdio } from '@mcpx/transport-stdio'
import { showDialogue } from './dialogue.ts'
import { showHosts } from './hosts.ts'
import { heading, paint } from './terminal.ts'
import { server } from './trains.ts'

const help = `npm start                   serve on port 3000, show a dialogue in both eras, go on until Ctrl-C
npm start -- --port 4000    serve on another port; 0: on any that is free
npm start -- --once         end after the dialogue; without --port on any port that is free
npm start -- --stdio        serve on standard input and output; hosts take the command that npm start prints for them`

const { once, port, stdio } = options()
if (stdio) await serveStdio(server)
else await serveAndShow()

async function serveAndShow(): Promise<void> {
  const { url, close, drain } = await serveHttp(server, { port }).catch(explain)
  heading(`A server with tools, resources and prompts, for clients of all revisions: ${url}`)
  try {
    await showDialogue(url, 'modern')
    await showDialogue(url, 'legacy')
  } catch (error) {
    console.log(paint('red', `  failed: ${error instanceof Error ? error.stack : error}`))
    process.exitCode = 1
  }
  if (once || process.exitCode === 1) {
    await close()
    if (process.exitCode !== 1) console.log(`\n${paint('green', 'ok')}: both said the same to the same server`)
    return
  }
  showHosts(url)
  console.log(`\nServing on ${paint('bold', url)}; Ctrl-C ends it.`)
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.once(signal, () => void drain(500).then(() => process.exit(0)))
}

/** A port that is taken is the one thing that goes wrong for everybody some day. */
function explain(error: Error): never {
  const { code } = (error.cause ?? {}) as { code?: string }
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} is taken: end what uses it, or choose another: npm start -- --port ${port + 1}`,
    EACCES: `Port ${port} may not be used by you: choose one above 1023: npm start -- --port 3000`,
  }
  return stop(reasons[code ?? ''] ?? `Port ${port} cannot be served on: ${error.message}`)
}

function options(): { once: boolean; port: number; stdio: boolean } {
  try {
    const flag = { type: 'boolean', default: false } as const
    const { values } = parseArgs({ options: { once: flag, stdio: flag, help: flag, port: { type: 'string' } } })
    if (values.help) {
      console.log(help)
      process.exit(0)
    }
    const port = Number(values.port ?? (values.once ? 0 : 3000))
    if (!Number.isInteger(port) || port < 0 || port > 65_535) stop(`--port takes a number to 65535, not ${values.port}`)
    return { once: values.once, stdio: values.stdio, port }
  } catch (error) {
    return stop(`${(error as Error).message}\n${help}`)
  }
}

function stop(reason: string): never {
  process.stderr.write(`${reason}\n`)
  process.exit(1)
}
