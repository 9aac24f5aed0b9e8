/** `mcpx doctor`: explains why clients cannot use a server. */

import { resolve } from 'node:path'
import type { Command } from 'commander'
import { checkEndpoint } from '../doctor/endpoint.ts'
import { Diagnosis, type Finding } from '../doctor/findings.ts'
import { type Hint, hintsOf } from '../doctor/hints.ts'
import { Prober } from '../doctor/probe.ts'
import { checkTools } from '../doctor/tools.ts'
import { CliError, ExitCode, usageError } from '../output/errors.ts'
import type { Output } from '../output/output.ts'
import { plainText } from '../output/plain-text.ts'
import { machineOf } from '../server/hosts.ts'
import { useServer } from '../server/open.ts'
import { addServerArgument, readHeaders, type ServerOptions } from '../server/options.ts'
import { findServers, selectServer } from '../server/settings.ts'
import { readTarget } from '../server/target.ts'
import type { CommandContext } from './index.ts'

interface DoctorOptions extends Omit<ServerOptions, 'config'> {
  readonly strict?: boolean
  readonly fixHints?: boolean
  /** The settings file to check, or true if `--config` has no value. */
  readonly config?: string | boolean
}

const CONFIG_HELP =
  'without a server: check this settings file, or those of all hosts; with one: read its name from this file'

export function define(command: Command, context: CommandContext): void {
  addServerArgument(command, { optional: true, config: ['--config [file]', CONFIG_HELP] })
    .option('--strict', 'also exit with 1 for warnings')
    .option('--fix-hints', 'print each fix as settings or code')
    .action((server: string | undefined, options: DoctorOptions) => {
      const { config, ...others } = options
      if (server === undefined && config !== undefined) return diagnoseSettings(context, options)
      if (server === undefined || config === true) throw usageError('doctor: expected a server', CONFIG_REMEDY)
      return diagnose(context, server, { ...others, ...(typeof config === 'string' && { config }) })
    })
}

type ServerDoctorOptions = ServerOptions & Pick<DoctorOptions, 'strict' | 'fixHints'>

const CONFIG_REMEDY = 'Write "mcpx doctor <server>", or "mcpx doctor --config" for the settings of hosts.'

/** Checks the settings files of hosts. */
async function diagnoseSettings(context: CommandContext, options: DoctorOptions): Promise<void> {
  const { terminal, output } = context
  const { checkSettings } = await import('../doctor/settings-check.ts')
  const diagnosis = new Diagnosis()
  const path = typeof options.config === 'string' ? resolve(terminal.cwd, options.config) : undefined
  const files = await checkSettings(machineOf(terminal), path, diagnosis)
  if (files.length === 0 && diagnosis.findings.length === 0) output.note('No settings files of hosts were found.')
  report(context, diagnosis, options, { files })
}

/** Prints the findings, with `--fix-hints` also the fixes, and sets the exit code. */
function report(
  context: CommandContext,
  { findings, passed, recognized }: Diagnosis,
  { strict, fixHints }: Pick<DoctorOptions, 'strict' | 'fixHints'>,
  { url, ...facts }: { readonly url?: URL | undefined; readonly server?: string; readonly files?: readonly object[] },
): void {
  const errors = findings.filter(({ level }) => level === 'error')
  if (errors.length > 0 || (strict === true && findings.length > 0)) context.exitCode = ExitCode.failure
  const shown = findings.map(({ hint, ...finding }) => ({
    ...finding,
    ...(fixHints === true && { hints: hintsOf({ hint, ...finding } as Finding, url, recognized) }),
  }))
  context.output.result({ ...facts, findings: shown, passed }, () => formatDiagnosis(shown, passed, context.output))
}

async function diagnose(context: CommandContext, word: string, options: ServerDoctorOptions): Promise<void> {
  const diagnosis = new Diagnosis()
  const remote = await remoteOf(context, word, options)
  const isReachable =
    remote === undefined || (await checkEndpoint(remote.url, proberOf(context, remote.headers, options), diagnosis))
  if (isReachable) await checkWithClient(context, word, options, diagnosis)
  report(context, diagnosis, options, { server: word, url: remote?.url })
}

/** Returns the URL of the server and the headers in its settings. Returns undefined if the server has no URL. */
async function remoteOf(
  { terminal, serverCommand }: CommandContext,
  word: string,
  options: ServerDoctorOptions,
): Promise<{ readonly url: URL; readonly headers: Record<string, string> } | undefined> {
  const target = readTarget(word, serverCommand, terminal.cwd)
  if (target.kind === 'url') return { url: target.url, headers: {} }
  if (target.kind !== 'name') return undefined
  if (options.config !== undefined) return undefined
  const { entry } = selectServer(target.name, await findServers(machineOf(terminal)))
  const { url = entry.serverUrl ?? entry.httpUrl, headers } = entry
  if (typeof url !== 'string') return undefined
  if (!URL.canParse(url)) throw usageError(`${word}: ${JSON.stringify(url)} is not a URL`)
  return { url: new URL(url), headers: { ...(headers as Record<string, string>) } }
}

function proberOf({ terminal }: CommandContext, headers: Record<string, string>, options: ServerDoctorOptions): Prober {
  const token = options.token ?? terminal.env.MCPX_TOKEN
  const credentials = { ...headers, ...readHeaders(options.header), ...(token && { authorization: `Bearer ${token}` }) }
  return new Prober(credentials, terminal.signal, options.timeout)
}

/** Connects as any client does, and checks the lists of the server. */
async function checkWithClient(
  context: CommandContext,
  word: string,
  options: ServerDoctorOptions,
  diagnosis: Diagnosis,
): Promise<void> {
  try {
    await useServer(context, word, options, (client) => checkTools(client, diagnosis))
  } catch (error) {
    // Findings about the endpoint explain the failure better than this error.
    if (diagnosis.findings.length === 0) throw error
    if (!(error instanceof CliError)) diagnosis.add('lists-failed', (error as Error).message)
  }
}

function formatDiagnosis(findings: readonly ShownFinding[], passed: readonly string[], output: Output): string {
  const blocks = findings.map((finding) => formatFinding(finding, output))
  const checks = passed.map((sentence) => `${output.style('green', 'ok')} ${plainText(sentence)}`)
  const counts = ['error', 'warning'].map((level) => {
    const count = findings.filter((finding) => finding.level === level).length
    return `${count} ${level}${count === 1 ? '' : 's'}`
  })
  return [
    ...blocks,
    ...checks,
    ...(checks.length > 0 ? [''] : []),
    `${passed.length} ${passed.length === 1 ? 'check' : 'checks'} passed: ${counts.join(', ')}`,
  ].join('\n')
}

type ShownFinding = Omit<Finding, 'hint'> & { readonly hints?: readonly Hint[] }

function formatFinding({ id, level, seen, why, fix, link, hints = [] }: ShownFinding, output: Output): string {
  const head = output.style(level === 'error' ? 'red' : 'yellow', `${level}: ${id}`)
  const lines = [`seen  ${plainText(seen)}`, `why   ${why}`, `fix   ${fix}`, `see   ${output.style('dim', link)}`]
  const fixes = hints.map((hint) => `\n\n  ${hint.for}:\n${plainText(hint.text).replace(/^/gm, '    ')}`)
  return `${head}\n${lines.map((line) => `  ${line}`).join('\n')}${fixes.join('')}\n`
}
