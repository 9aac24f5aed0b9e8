/** Consumers of the packages: each runs the programs of the README with another runtime or compiler. */
import { writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { end, start } from '@mcpx/conformance-runtimes/programs'
import type { Runtime, RuntimeName } from '@mcpx/conformance-runtimes/runtimes'
import { freePort, readFrontPage } from './front-page.ts'
import { consumers as settings } from './isolated-install.ts'
import { run } from './tool.ts'

/** The folder with all installed packages, and the repository with the README. */
export interface Home {
  readonly folder: string
  readonly repository: string
}

export interface Consumer {
  readonly name: string
  /** Resolves to an error message, or to an empty string. */
  readonly faults: () => Promise<string>
}

/** The arguments with which each runtime runs a file. */
const commands: Partial<Record<RuntimeName, readonly string[]>> = {
  node20: [],
  node22: [],
  node24: [],
  bun: ['run'],
  deno: ['run', '--allow-all', '--quiet'],
}

/** A consumer that runs plain JavaScript on a runtime. */
export function javascriptOn({ name, path, version }: Runtime, home: Home): Consumer {
  const command = commands[name] ?? []
  return {
    name: `plain JavaScript on ${name} ${version}`,
    faults: () => runPrograms(home, `on-${name}`, '.mjs', (file) => [path, ...command, file]),
  }
}

/** A consumer that compiles strict TypeScript, with a check of declarations, and runs the output on Node 20. */
export function typescript(compiler: string, resolution: keyof typeof settings, node: string, home: Home): Consumer {
  const { folder } = home
  return {
    name: `TypeScript (${compiler}, ${resolution})`,
    async faults() {
      const name = `ts-${compiler}-${resolution}`
      const outDir = join(folder, `${name}-out`)
      const compilerOptions = { ...settings[resolution], noEmit: resolution === 'bundler', outDir }
      const compile = async (files: readonly string[]): Promise<string> => {
        const config = join(folder, `tsconfig.${name}.json`)
        writeFileSync(config, JSON.stringify({ compilerOptions, files }))
        const tsc = join(folder, 'node_modules', compiler, 'bin/tsc')
        const { code, output } = await run(node, [tsc, '-p', config], folder)
        return code === 0 ? '' : output
      }
      if (resolution === 'bundler') {
        writeProgram(home, name, '.ts', await freePort())
        return compile([`${name}-server.ts`, `${name}-client.ts`])
      }
      return runPrograms(home, name, '.ts', (file) => [node, join(outDir, file.replace(/\.ts$/, '.js'))], compile)
    },
  }
}

export function writeProgram({ folder, repository }: Home, name: string, extension: string, port: number): string {
  const { server, client, prints } = readFrontPage(repository, port)
  const write = (part: 'server' | 'client', code: string): void => {
    const ownImports = code.replaceAll("'./server.js'", `'./${name}-server.js'`)
    const program = extension === '.ts' ? ownImports : stripTypeScriptTypes(ownImports)
    writeFileSync(join(folder, `${name}-${part}${extension}`), program)
  }
  write('server', server)
  write('client', client)
  return prints
}

/** Writes both programs, prepares them, and runs the client against the server. */
async function runPrograms(
  home: Home,
  name: string,
  extension: string,
  commandOf: (file: string) => string[],
  prepare: (files: readonly string[]) => Promise<string> = async () => '',
): Promise<string> {
  const prints = writeProgram(home, name, extension, await freePort())
  const files = [`${name}-server${extension}`, `${name}-client${extension}`]
  const error = await prepare(files)
  if (error !== '') return error
  const [server = [], client = []] = files.map((file) => {
    const [program = '', ...args] = commandOf(file)
    return [program, ...args.map((arg) => (arg === file ? join(home.folder, file) : arg))]
  })
  return runClientAndServer(server, client, prints)
}

export async function runClientAndServer(
  server: readonly string[],
  client: readonly string[],
  prints: string,
): Promise<string> {
  const [program = '', ...args] = server
  const serving = start(program, args)
  try {
    await serving.line(/^http:/)
    const [other = '', ...others] = client
    const { code, stdout, output } = await run(other, others, '.', { NO_COLOR: '1' })
    return code === 0 && normalizeOutput(stdout) === normalizeOutput(prints)
      ? ''
      : `expected the output\n${prints}\ngot, with exit code ${code},\n${output}`
  } catch (error) {
    return `the server did not start: ${error instanceof Error ? error.message : error}`
  } finally {
    end(serving)
  }
}

/** Removes differences in how runtimes print values. */
export function normalizeOutput(text: string): string {
  return text
    .replace(/\s/g, '')
    .replace(/"/g, "'")
    .replace(/,(?=[}\]])/g, '')
}
