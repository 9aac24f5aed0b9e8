/** A folder with the files of a document, in which its programs are compiled and run. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Block, filesOf, matchesOutput, programsOf, type Step } from './blocks.ts'

const here = fileURLToPath(new URL('..', import.meta.url))
const root = join(here, '../..')
/** The ports in documents, which each workplace replaces by free ones so that documents can be tested concurrently. */
const PORTS = ['3000', '4000', '4318', '5000', '6379']
/** The timeout of a program, in milliseconds. */
const LIMIT = 25_000

export interface Workplace {
  /** Compiles all programs and files; resolves to the errors, or to an empty string. */
  compile(): Promise<string>
  /** Runs a program; resolves to the printed lines, or rejects with its error. */
  run(program: Block): Promise<string[]>
  /** Runs a command of a `console` block; rejects if the output differs. */
  perform(step: Step): Promise<void>
  /** Kills background commands and removes the folder. */
  leave(): Promise<void>
}

/** Replaces strings in one pass, because a replacement may contain another string: the free port 40007 contains 4000. */
function replaceEach(text: string, searched: readonly string[], replacements: readonly string[]): string {
  return text.replaceAll(new RegExp(searched.join('|'), 'g'), (found) => replacements[searched.indexOf(found)] ?? found)
}

export async function openWorkplace(blocks: readonly Block[]): Promise<Workplace> {
  // Inside this package, so that its dependencies are resolved; not in node_modules, where Node does not strip types.
  const cache = join(here, '.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'reader-'))
  const ports = await Promise.all(PORTS.map(freePort))
  const put = (text: string) => replaceEach(text, PORTS, ports)
  const putBack = (text: string) => replaceEach(text, ports, PORTS)
  const programs = programsOf(blocks)
  const nameOf = (block: Block) => block.file ?? `program-${programs.indexOf(block) + 1}.m${block.language}`
  const files = [...filesOf(blocks), ...programs]
  putNode(folder)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  if (files.some(({ file }) => file?.includes('.test.'))) writeFileSync(join(folder, 'vitest.config.mjs'), vitestConfig)
  for (const block of files) {
    mkdirSync(join(folder, dirname(nameOf(block))), { recursive: true })
    writeFileSync(join(folder, nameOf(block)), put(block.text))
  }
  const background: ChildProcess[] = []

  return {
    async compile() {
      const sources = files.map(nameOf).filter((name) => /\.m?[jt]s$/.test(name))
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(configuration(sources)))
      const compiler = start([join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], folder)
      return (await compiler.ended) === 0 ? '' : compiler.output()
    },
    async run(block) {
      const child = start([nameOf(block)], folder)
      const code = await child.ended
      if (code !== 0 || child.stderr() !== '') throw new Error(child.stderr() || `exited with ${code}`)
      return putBack(child.output().trimEnd()).split('\n')
    },
    async perform({ command, inBackground, prints }) {
      const child = startCommand(put(command), folder)
      const output = () => putBack(child.output()).replaceAll(folder, '/work')
      if (inBackground) {
        background.push(child.process)
        const exited = child.ended.then((code) => Promise.reject(new Error(`exited with ${code}: ${output()}`)))
        await Promise.race([child.until(() => matchesOutput(output(), prints)), exited])
        exited.catch(() => {})
        return
      }
      const code = await child.ended
      if (code !== 0 || !matchesOutput(output(), prints)) {
        throw new Error(
          `\`${command}\`: expected the output\n${prints.join('\n')}\ngot, with exit code ${code},\n${output()}`,
        )
      }
    },
    async leave() {
      for (const each of background) each.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

/** Starts a command of a `console` block. */
function startCommand(command: string, folder: string) {
  const [program = '', ...args] = command.split(' ')
  if (program === 'node') return start(args, folder)
  if (program === 'npx' && args[0] === 'vitest') {
    return start([join(root, 'node_modules/vitest/vitest.mjs'), ...args.slice(1)], folder)
  }
  if (program === 'npx' && args[0] === 'mcpx')
    return start([join(root, 'packages/cli/src/main.ts'), ...args.slice(1)], folder)
  if (program === 'redis-server') return start(args, folder, program)
  throw new Error(
    `console block: expected \`node\`, \`npx vitest\`, \`npx mcpx\` or \`redis-server\`, got \`${command}\``,
  )
}

/**
 * Tests in documents read our packages from their sources, too. The AI SDK imports a package that has a `source`
 * condition as well, which Vite compiles.
 */
const vitestConfig = `export default {
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: { server: { deps: { inline: ['ai', /@ai-sdk/] } } },
}
`

/** Strict compiler options, also for JavaScript. */
function configuration(files: readonly string[]): object {
  const compilerOptions = {
    composite: false,
    // Exports must have declarations, as in a library or a project reference.
    declaration: true,
    emitDeclarationOnly: true,
    outDir: 'declarations',
    declarationMap: false,
    sourceMap: false,
    skipLibCheck: true,
    allowJs: true,
    checkJs: true,
    strict: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  }
  return { extends: join(root, 'tsconfig.base.json'), compilerOptions, files }
}

/** Writes a `node` script that resolves our packages to their sources, also for child processes. */
function putNode(folder: string): void {
  const flags = ['--disable-warning=ExperimentalWarning', `--import=${join(here, 'src/preload.mjs')}`]
  const quoted = [process.execPath, ...flags].map((word) => `'${word}'`)
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin/node'), `#!/bin/sh\nexec ${quoted.join(' ')} "$@"\n`, { mode: 0o755 })
}

function start(args: readonly string[], folder: string, program = 'node') {
  const path = [join(folder, 'bin'), process.env.PATH].join(delimiter)
  // Programs store the state of their user in this folder, and not in the folder of the user who runs the tests.
  const state = join(folder, 'state')
  const env = { ...process.env, PATH: path, NO_COLOR: '1', NODE_OPTIONS: '', XDG_STATE_HOME: state }
  const child = spawn(program, args, { cwd: folder, env, timeout: LIMIT, killSignal: 'SIGKILL' })
  let [output, problem] = ['', '']
  let look = () => {}
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    look()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    problem += text
    output += text
    look()
  })
  return {
    process: child as ChildProcess,
    output: () => output,
    stderr: () => problem,
    ended: new Promise<number | string>((resolve) => child.on('close', (code, signal) => resolve(code ?? `${signal}`))),
    until: (condition: () => boolean) =>
      new Promise<void>((resolve) => {
        look = () => condition() && resolve()
        look()
      }),
  }
}

function freePort(): Promise<string> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? `${address?.port}` : ''))
    })
  })
}
