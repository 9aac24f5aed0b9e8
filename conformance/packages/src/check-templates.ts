/** Creates a project from each template of create-mcpx, with one install for all, and builds, tests and runs it as its README says. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Outcome } from './check-package.ts'
import { dependenciesOf, install } from './isolated-install.ts'
import type { Tarball } from './tarball.ts'
import { run } from './tool.ts'

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

/** The package that has the templates. */
export const creator = 'create-mcpx'

/** The tool call that must succeed in each template: its arguments for `mcpx call`, and a part of the result. */
const lengths = { call: ['convert_length', 'value=2', 'from=mile', 'to=meter'], prints: '3218.688' }
const todos = { call: ['add_todo', 'title=Milk'], prints: '"title": "Milk"' }

/** The templates, with the commands that serve them and print a URL, and the path of the endpoint. */
const programs = {
  stdio: { ...lengths, serve: [{ script: 'dev', path: '' }] },
  hono: { ...lengths, serve: [{ script: 'start', path: '' }] },
  // The tests of this template call the worker on workerd.
  workers: { ...lengths, serve: [] },
  'full-stack': {
    ...todos,
    serve: [
      { script: 'start', path: '/mcp' },
      { script: 'dev', path: 'mcp' },
    ],
  },
} as const

/** Checks all templates in a folder below `place`; `tarballs` are all of our packages. */
export async function checkTemplates(tarballs: readonly Tarball[], place: string): Promise<Outcome> {
  const folder = join(place, 'templates')
  const line = `${creator}: ${Object.keys(programs).length} templates created, built, tested and run`
  const outcome = { passed: 0, faults: [] as string[], leftOut: [] as string[], line }
  const packed = tarballs.find(({ manifest }) => manifest.name === creator)
  if (packed === undefined) return { ...outcome, faults: [`${creator} is not packed`] }
  const names = [...packed.files.keys()].flatMap((path) => /^templates\/([^/]+)\/package\.json$/.exec(path)?.[1] ?? [])
  if (names.sort().join() !== Object.keys(programs).sort().join())
    return {
      ...outcome,
      faults: [`expected the templates ${Object.keys(programs).join(', ')}, got ${names.join(', ')}`],
    }
  const result = await install(dependenciesOf(tarballs, othersOf(packed)), folder)
  if ('fault' in result) {
    const reason = 'templates are not built and run: no package registry is reachable'
    if (result.noNetwork && process.env.CI === undefined) return { ...outcome, leftOut: [reason] }
    return { ...outcome, faults: [`install: ${result.fault}`] }
  }
  // One after the other, because each starts a compiler, a test runner and a server.
  for (const [name, program] of Object.entries(programs)) {
    const faults = await templateFaults(name, program, folder, tarballs)
    outcome.faults.push(...faults.map((fault) => `template ${name}: ${fault}`))
    outcome.passed += faults.length === 0 ? 1 : 0
  }
  return outcome
}

/** Returns the packages of others that the templates need. */
function othersOf({ files }: Tarball): Record<string, string> {
  const manifests = [...files].filter(([path]) => /^templates\/[^/]+\/package\.json$/.test(path))
  const ranges = manifests.flatMap(([, bytes]) => {
    const { dependencies, devDependencies } = JSON.parse(bytes.toString()) as Manifest
    return Object.entries({ ...dependencies, ...devDependencies })
  })
  return Object.fromEntries(ranges.filter(([, range]) => !range.startsWith('{{')))
}

async function templateFaults(
  name: string,
  { call, prints, serve }: (typeof programs)[keyof typeof programs],
  place: string,
  tarballs: readonly Tarball[],
): Promise<string[]> {
  const folder = join(place, name)
  // wrangler writes its logs below the home folder.
  const home = join(place, 'home')
  mkdirSync(home, { recursive: true })
  const env = { HOME: home, XDG_CONFIG_HOME: home, WRANGLER_SEND_METRICS: 'false', CI: 'true', NO_COLOR: '1' }
  const bin = (program: string): string => join(place, 'node_modules/.bin', program)
  const created = await run(bin(creator), [name, '--template', name, '--yes'], place)
  if (created.code !== 0) return [`cannot be created:\n${created.output}`]
  const faults = rangeFaults(folder, tarballs)
  for (const script of ['typecheck', 'build', 'test']) {
    const { code, output } = await run('npm', ['run', script], folder, env)
    if (code !== 0) faults.push(`npm run ${script} ends with ${code}:\n${output}`)
  }
  const callTool = async (...server: string[]): Promise<void> => {
    const { output } = await run(bin('mcpx'), ['call', ...server], folder, env)
    if (!output.includes(prints)) faults.push(`mcpx call ${server.join(' ')}: expected ${prints}, got\n${output}`)
  }
  if (name === 'stdio') await callTool('dist/main.js', ...call)
  for (const { script, path } of serve) {
    const [command = '', ...args] = scriptOf(folder, script)
    const more = { vite: ['--port', '0', '--host', '127.0.0.1'], mcpx: ['--http', '--port', '0'] }[command] ?? []
    const program = command === 'node' ? process.execPath : bin(command)
    const child = spawn(program, [...args, ...more], { cwd: folder, env: { ...process.env, ...env, PORT: '0' } })
    try {
      await callTool(`${await urlOf(child)}${path}`, ...call)
    } catch (error) {
      faults.push(`npm run ${script}: ${error}`)
    }
    const exited = once(child, 'exit')
    if (child.exitCode === null && child.kill()) await exited
  }
  return faults
}

/** Returns a script as a command, which is started without npm, so that it can be ended. */
function scriptOf(folder: string, script: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return (scripts[script] as string).split(' ')
}

/** Checks that a project depends on the versions of the tarballs. */
function rangeFaults(folder: string, tarballs: readonly Tarball[]): string[] {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  const ranges = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
  return ranges.flatMap(([name, range]) => {
    const version = tarballs.find((each) => each.manifest.name === name)?.manifest.version
    const isOurs = name.startsWith('@mcpx/')
    return isOurs && range !== `^${version}` ? [`${name}: expected the range ^${version}, got ${range}`] : []
  })
}

const START_TIMEOUT = 30_000

/** Resolves to the first URL that a program prints. */
async function urlOf(child: ChildProcess): Promise<string> {
  let output = ''
  const url = new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`prints no URL:\n${output}`)), START_TIMEOUT)
    const read = (data: Buffer): void => {
      output += data
      const found = /http:\/\/[^\s]+(?=\s)/.exec(output)?.[0]
      if (found === undefined) return
      clearTimeout(timer)
      resolve(found)
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`ends with ${code}:\n${output}`)))
    child.once('exit', () => clearTimeout(timer))
  })
  return url
}
