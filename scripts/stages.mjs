// The stages of `npm test`, with the number of their checks.
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { capture } from './children.mjs'
import { colourSettings } from './progress.mjs'

/**
 * A stage receives the root of the repository, the environment of the tools and `note`, which shows its progress.
 * It resolves to the number of checks that passed and failed, a line on what it checked, the output of the tools,
 * and the checks that this machine cannot run.
 */
export const stages = { types, lint, architecture, unit, packages, conformance, interop, runtimes, examples, soak }

/** The packages compile, and so do the tests, the applications and the scripts. */
async function types(run) {
  const build = await built(run)
  const [, good = 0, all = 1] = /Tasks:\s+(\d+) successful, (\d+) total/.exec(build.output)?.map(Number) ?? []
  const tests = await tool(run, 'tsc', ['-p', 'tsconfig.test.json'])
  const bad = tests.code === 0 ? 0 : 1
  return {
    passed: good + 1 - bad,
    failed: all - good + bad,
    found: `${good} of ${all} packages built, the tests ${bad === 0 ? 'type-check' : 'do not type-check'}`,
    output: (build.code === 0 ? '' : build.output) + tests.output,
  }
}

/** Formatting, lint rules, and unused files, exports and dependencies. */
async function lint(run) {
  const biome = await tool(run, 'biome', ['check', '--error-on-warnings', '--max-diagnostics=100'])
  const knip = await tool(run, 'knip', [])
  const failed = [biome, knip].filter(({ code }) => code !== 0)
  const files = /Checked (\d+) files?/.exec(biome.output)?.[1] ?? 'no'
  return {
    passed: 2 - failed.length,
    failed: failed.length,
    found: `${files} files`,
    output: failed.map(({ output }) => output).join('\n'),
  }
}

/** The rules of the architecture. */
function architecture(run) {
  return reporting(run, 'architecture', ['scripts/check-architecture.ts'])
}

/** The tests beside the sources. */
async function unit(run) {
  const file = reportFile(run.root, 'unit')
  const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const { code, output } = await tool(run, 'vitest', args)
  const report = read(file)
  if (report === undefined) return { ...verdict(code || 1, 0, 0), found: 'no report was written', output }
  const unloaded = report.testResults.filter((each) => each.status === 'failed' && each.assertionResults.length === 0)
  const silent = report.testResults
    .flatMap((each) => each.assertionResults)
    .filter((test) => test.status !== 'passed' && test.status !== 'failed')
  return {
    ...verdict(code, report.numPassedTests, report.numFailedTests + unloaded.length),
    found: `${report.testResults.length} files`,
    output,
    leftOut: silent.map((test) => test.fullName),
  }
}

/** Each published package, packed and installed. */
async function packages(run) {
  const build = await built(run)
  if (build.code !== 0) return notBuilt(build)
  return reporting(run, 'packages', ['conformance/packages/src/main.ts'])
}

/** The official suite against our server and our client. */
async function conformance(run) {
  const build = await built(run)
  if (build.code !== 0) return notBuilt(build)
  return reporting(run, 'conformance', ['conformance/official/src/main.ts'])
}

/** The built packages with the official SDKs, and with servers and clients of other authors. */
async function interop(run) {
  const build = await built(run)
  if (build.code !== 0) return notBuilt(build)
  return reporting(run, 'interop', ['conformance/interop/src/main.ts'])
}

/** One suite with the client of each runtime against the server of each runtime. */
async function runtimes(run) {
  const build = await built(run)
  if (build.code !== 0) return notBuilt(build)
  return reporting(run, 'runtimes', ['conformance/runtimes/src/main.ts'])
}

/** Each example, started with its own command. */
async function examples(run) {
  const build = await built(run)
  if (build.code !== 0) return notBuilt(build)
  return reporting(run, 'examples', ['conformance/runtimes/src/examples.ts'])
}

/**
 * Three minutes of load with faults, and a shorter load on a server with defects. This is too long for each run, so it
 * only runs with `CI` set, or if the stage is named.
 */
async function soak(run) {
  if (!run.isNamed && !process.env.CI) {
    return { passed: 0, failed: 0, found: 'not run', leftOut: ['three minutes of load: npm test -- soak'] }
  }
  const build = await built(run)
  if (build.code !== 0) return notBuilt(build)
  const folder = join(run.root, '.cache', 'soak')
  rmSync(join(folder, 'soak.json'), { force: true })
  const args = ['conformance/soak/src/main.ts', '--duration', '3m', '--report', folder]
  const load = await tool(run, 'node', args)
  const checks = read(join(folder, 'soak.json'))?.checks ?? []
  const failed = checks.filter(({ passed }) => !passed).length
  const defects = await tool(run, 'node', ['conformance/soak/src/defects.ts'])
  const missed = defects.code === 0 ? 0 : 1
  const [{ output, code }, lastLine] = [load, ({ output }) => output.trimEnd().split('\n').at(-1)]
  const { passed, failed: failedChecks } = verdict(code, checks.length - failed, failed)
  return {
    passed: passed + 1 - missed,
    failed: failedChecks + missed,
    found: `${lastLine(load)}; ${lastLine(defects)}`,
    output: `${output}\n${defects.output}`,
  }
}

/** Builds once for all stages. */
function built(run) {
  run.build ??= build(run)
  return run.build
}

async function build(run) {
  const args = ['run', 'build', '--continue=dependencies-successful', '--output-logs=errors-only']
  return await tool(run, 'turbo', args)
}

function notBuilt({ output }) {
  return { passed: 0, failed: 1, found: 'not run, the build failed', output }
}

/** Runs a checker of this repository, which writes its counts to the file of `--report`. */
async function reporting(run, name, args) {
  const file = reportFile(run.root, name)
  const { code, output } = await tool(run, 'node', [...args, '--report', file])
  const report = read(file)
  if (report === undefined) return { ...verdict(code || 1, 0, 0), found: 'no report was written', output }
  return { ...report, ...verdict(code, report.passed, report.failed), output }
}

async function tool(run, command, args) {
  run.note(command)
  const result = await capture(command, args, { cwd: run.root, env: { ...run.env, ...colourSettings } })
  if (result.timedOut) result.output += `\n${command} took longer than 30 minutes and was stopped.\n`
  return result
}

/** A tool that fails without a failed check counts as one failed check. A tool without checks counts as one check. */
function verdict(code, passed, failed) {
  if (code !== 0 && failed === 0) return { passed, failed: 1 }
  if (code === 0 && passed + failed === 0) return { passed: 1, failed: 0 }
  return { passed, failed }
}

function reportFile(root, name) {
  const folder = join(root, '.cache', 'reports')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${name}.json`)
  rmSync(file, { force: true })
  return file
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
