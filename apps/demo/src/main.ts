/** Serves trains, prints a dialogue of a client of each era, and keeps serving. `npm start -- --help` lists the options. */
import { parseArgs } from 'node:util'
import { serveHttp } from '@mcpx/transport-http/node'
import { serveStdio } from '@mcpx/transport-stdio'
import { showDialogue } from './dialogue.ts'
import { showHosts } from './hosts.ts'
import { heading, paint } from './terminal.ts'
import { server } from './trains.ts'

const help = `npm start                   serve on port 3000, show a dialogue in both eras, serve until Ctrl-C
npm start -- --port 4000    serve on another port; 0: on any free port
npm start -- --once         exit after the dialogue; without --port on any free port
npm start -- --stdio        serve over stdio; npm start prints the command for hosts`

const { once, port, stdio } = parseOptions()
if (stdio) await serveStdio(server)
else await serveAndShow()

async function serveAndShow(): Promise<void> {
  const { url, close, drain } = await serveHttp(server, { port }).catch(explainListenError)
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
    if (process.exitCode !== 1)
      console.log(`\n${paint('green', 'ok')}: both clients had the same dialogue with one server`)
    return
  }
  showHosts(url)
  console.log(`\nServing on ${paint('bold', url)}; Ctrl-C ends it.`)
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.once(signal, () => void drain(500).then(() => process.exit(0)))
}

/** Prints why the port cannot be used and what to do, and exits. */
function explainListenError(error: Error): never {
  const { code } = (error.cause ?? {}) as { code?: string }
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} is in use: stop the program that uses it, or choose another port: npm start -- --port ${port + 1}`,
    EACCES: `Port ${port} needs privileges: choose a port above 1023: npm start -- --port 3000`,
  }
  return exitWithError(reasons[code ?? ''] ?? `Port ${port} cannot be used: ${error.message}`)
}

function parseOptions(): { once: boolean; port: number; stdio: boolean } {
  try {
    const flag = { type: 'boolean', default: false } as const
    const { values } = parseArgs({ options: { once: flag, stdio: flag, help: flag, port: { type: 'string' } } })
    if (values.help) {
      console.log(help)
      process.exit(0)
    }
    const port = Number(values.port ?? (values.once ? 0 : 3000))
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      exitWithError(`--port: expected a number from 0 to 65535, got ${values.port}`)
    return { once: values.once, stdio: values.stdio, port }
  } catch (error) {
    return exitWithError(`${(error as Error).message}\n${help}`)
  }
}

function exitWithError(reason: string): never {
  process.stderr.write(`${reason}\n`)
  process.exit(1)
}
