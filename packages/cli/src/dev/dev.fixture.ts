/** Runs `mcpx dev` with a file that a test saves. */

import { type ChildProcess, spawn as start } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import process from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Client, type ClientOptions, connect } from '@mcpx/client'
import type { Connector, Era } from '@mcpx/protocol'
import { http } from '@mcpx/transport-http/client'
import { spawn } from '@mcpx/transport-stdio'
import { onTestFinished } from 'vitest'
import { folderWith, MCPX } from '../cli.fixture.ts'

/** The arguments of Node that make a process write the size of its heap at SIGUSR2. */
const HEAP = ['--expose-gc', '--import', new URL('./heap.fixture.ts', import.meta.url).href]
const echo = fileURLToPath(new URL('./echo-server.fixture.ts', import.meta.url))

/**
 * Returns the source of a file that exports the server of `createEchoServer`.
 *
 * @param more is added to the expression, such as a call of `tool`
 */
export function echoSource(version: string, more = '', options = {}): string {
  const create = `createEchoServer('${version}', ${JSON.stringify(options)})`
  return `import { createEchoServer } from ${JSON.stringify(echo)}\nexport const server = ${create}${more}\n`
}

export interface Dev {
  readonly client: Client
  /** The folder of `server.ts`. */
  readonly folder: string
  /** Connects another client, over HTTP to the same process. */
  readonly connectAgain: (era: Era) => Promise<Client>
  /** The text on standard error since the start. */
  stderr(): string
  /** Resolves when standard error contains the text, after the position of the last call. */
  waitFor(text: string): Promise<void>
  /** Writes a file of the folder. */
  save(source: string, name?: string): Promise<void>
  /** Saves a new version of the server, and resolves when it answers. */
  replace(...source: Parameters<typeof echoSource>): Promise<void>
}

export interface DevSetup extends ClientOptions {
  readonly transport?: 'stdio' | 'http'
  /** `FOLDER` in them is replaced by the folder of `server.ts`. */
  readonly args?: readonly string[]
  /** Whether the first version of the server cannot start. Default: false. */
  readonly isBroken?: boolean
  readonly files?: Readonly<Record<string, string>>
}

/** Starts `mcpx dev server.ts`, and connects a client. Both end with the test. */
export async function startDev({
  transport = 'stdio',
  args = [],
  isBroken,
  files,
  ...options
}: DevSetup = {}): Promise<Dev> {
  const folder = await folderWith({ 'server.ts': echoSource('one'), ...files })
  let stderr = ''
  const onStderr = (text: string) => {
    stderr += text
  }
  const words = [...HEAP, ...MCPX, 'dev', `${folder}/server.ts`, ...args.map((each) => each.replace('FOLDER', folder))]
  const connector =
    transport === 'stdio'
      ? spawn(process.execPath, words, { stderr: onStderr })
      : http(await startHttp(words, onStderr))
  const connectAgain = (era: Era) => open(connector, { ...options, era })
  const client = await open(connector, options)
  let seen = 0
  async function waitFor(text: string): Promise<void> {
    for (let tries = 0; tries < 1_500; tries++) {
      const index = stderr.indexOf(text, seen)
      if (index >= 0) {
        seen = index + text.length
        return
      }
      await pause(10)
    }
    throw new Error(`${JSON.stringify(text)} was not written:\n${stderr}`)
  }
  await waitFor(isBroken ? 'did not start' : 'started in')
  const save = (source: string, name = 'server.ts') => writeFile(`${folder}/${name}`, source)
  return {
    client,
    folder,
    connectAgain,
    stderr: () => stderr,
    waitFor,
    save,
    async replace(version, more, options) {
      await save(echoSource(version, more, options))
      // On a busy machine, one save may be seen as two changes.
      do await waitFor('started in')
      while ((await textOf(client.callTool('version'))) !== version)
    },
  }
}

async function open(connector: Connector, options: ClientOptions): Promise<Client> {
  const client = await connect(connector, options)
  onTestFinished(() => client.close())
  return client
}

async function startHttp(words: readonly string[], onStderr: (text: string) => void): Promise<string> {
  const child: ChildProcess = start(process.execPath, [...words, '--http', '--port', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await exited
  })
  let text = ''
  return new Promise((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      onStderr(part)
      text += part
      const [, url] = /Serving at (\S+) until/.exec(text) ?? []
      if (url !== undefined) resolve(url)
    })
    void exited.then(() => reject(new Error(text)))
  })
}

/** Returns the text of the first content block. */
export async function textOf(call: Promise<unknown>): Promise<string> {
  const { content } = (await call) as { content: readonly { text: string }[] }
  return content[0]?.text ?? ''
}

/** Returns the ids of the process of the server, and of the one of `mcpx dev`. */
export async function readProcesses(client: Client): Promise<[server: number, front: number]> {
  return JSON.parse(await textOf(client.callTool('processes')))
}

/** Returns the size of the heap of `mcpx dev` after a garbage collection, in kilobytes. */
export async function readHeap(dev: Dev, front: number): Promise<number> {
  process.kill(front, 'SIGUSR2')
  await dev.waitFor('heap of ')
  await dev.waitFor(' bytes')
  const sizes = [...dev.stderr().matchAll(/heap of (\d+) bytes/g)]
  return Math.round(Number(sizes.at(-1)?.[1]) / 1024)
}

/** Whether a process runs. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
