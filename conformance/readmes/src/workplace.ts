/** A folder in which the files of a document lie, as its reader would have them, and where its programs are run. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Block, filesOf, fits, programsOf, type Step } from './blocks.ts'

const here = fileURLToPath(new URL('..', import.meta.url))
const root = join(here, '../..')
/** The ports that documents name. Each workplace puts others in their place, so that they can be read at once. */
const PORTS = ['3000', '4000']
/** How long a program may take, in ms. */
const LIMIT = 25_000

export interface Workplace {
  /** What the compiler says about all programs and files; nothing when it is content. */
  compile(): Promise<string>
  /** Resolves to the lines a program printed; rejects with what went wrong. */
  run(program: Block): Promise<string[]>
  /** Runs a command of a `console` block; rejects when it prints something else than is promised. */
  perform(step: Step): Promise<void>
  /** Ends what stayed, and takes the folder away. */
  leave(): Promise<void>
}

export async function openWorkplace(blocks: readonly Block[]): Promise<Workplace> {
  // Within this package, so that its dependencies are found; not in its node_modules, where Node takes no types.
  const cache = join(here, '.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'reader-'))
  const ports = await Promise.all(PORTS.map(freePort))
  const put = (text: string) => PORTS.reduce((all, port, index) => all.replaceAll(port, ports[index] ?? port), text)
  const putBack = (text: string) => PORTS.reduce((all, port, index) => all.replaceAll(ports[index] ?? port, port), text)
  const programs = programsOf(blocks)
  const nameOf = (block: Block) => block.file ?? `program-${programs.indexOf(block) + 1}.m${block.language}`
  const files = [...filesOf(blocks), ...programs]
  putNode(folder)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  if (files.some(({ file }) => file?.includes('.test.'))) writeFileSync(join(folder, 'vitest.config.mjs'), vitestConfig)
  for (const block of files) writeFileSync(join(folder, nameOf(block)), put(block.text))
  const staying: ChildProcess[] = []

  return {
    async compile() {
      const sources = files.map(nameOf).filter((name) => /\.m?[jt]s$/.test(name))
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(configuration(sources)))
      const compiler = start([join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], folder)
      return (await compiler.ended) === 0 ? '' : compiler.said()
    },
    async run(block) {
      const child = start([nameOf(block)], folder)
      const code = await child.ended
      if (code !== 0 || child.complained() !== '') throw new Error(child.complained() || `it ended with ${code}`)
      return putBack(child.said().trimEnd()).split('\n')
    },
    async perform({ command, stays, prints }) {
      const [program, ...args] = command.split(' ')
      const child = start(program === 'node' ? args : [...programOf(command), ...args.slice(1)], folder)
      const said = () => putBack(child.said()).replaceAll(folder, '/work')
      if (stays) {
        staying.push(child.process)
        const gone = child.ended.then((code) => Promise.reject(new Error(`it ended with ${code}: ${said()}`)))
        await Promise.race([child.until(() => fits(said(), prints)), gone])
        gone.catch(() => {})
        return
      }
      const code = await child.ended
      if (code !== 0 || !fits(said(), prints)) {
        throw new Error(`\`${command}\` ended with ${code} and printed\n${said()}\ninstead of\n${prints.join('\n')}`)
      }
    },
    async leave() {
      for (const each of staying) each.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

/** The file of a tool that documents run with npx. */
function programOf(command: string): string[] {
  if (command.startsWith('npx vitest ')) return [join(root, 'node_modules/vitest/vitest.mjs')]
  throw new Error(`only \`node\` and \`npx vitest\` are run here, not \`${command}\``)
}

/** Tests of documents read our packages from their sources, too. */
const vitestConfig = `export default { resolve: { conditions: ['source'] }, ssr: { resolve: { conditions: ['source'] } } }\n`

/** The settings of a strict user, who takes plain JavaScript as seriously. */
function configuration(files: readonly string[]): object {
  const compilerOptions = {
    composite: false,
    // As in a library or a project reference: what is exported must have declarations.
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

/** A `node` that takes our packages from their sources, also where a program starts another one. */
function putNode(folder: string): void {
  const flags = ['--disable-warning=ExperimentalWarning', `--import=${join(here, 'src/preload.mjs')}`]
  const quoted = [process.execPath, ...flags].map((word) => `'${word}'`)
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin/node'), `#!/bin/sh\nexec ${quoted.join(' ')} "$@"\n`, { mode: 0o755 })
}

function start(args: readonly string[], folder: string) {
  const path = [join(folder, 'bin'), process.env.PATH].join(delimiter)
  const env = { ...process.env, PATH: path, NO_COLOR: '1', NODE_OPTIONS: '' }
  const child = spawn('node', args, { cwd: folder, env, timeout: LIMIT, killSignal: 'SIGKILL' })
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
    said: () => output,
    complained: () => problem,
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
