/** `mcpx doctor`: explains why clients cannot use a server. */

import type { Command } from 'commander'
import { checkEndpoint } from '../doctor/endpoint.ts'
import { Diagnosis, type Finding } from '../doctor/findings.ts'
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

interface DoctorOptions extends ServerOptions {
  readonly strict?: boolean
}

export function define(command: Command, context: CommandContext): void {
  addServerArgument(command)
    .option('--strict', 'exit with 1 for warnings, too')
    .action((server: string, options: DoctorOptions) => diagnose(context, server, options))
}

async function diagnose(context: CommandContext, word: string, options: DoctorOptions): Promise<void> {
  const diagnosis = new Diagnosis()
  const remote = await remoteOf(context, word, options)
  const isReachable =
    remote === undefined || (await checkEndpoint(remote.url, proberOf(context, remote.headers, options), diagnosis))
  if (isReachable) await checkWithClient(context, word, options, diagnosis)
  const { findings, passed } = diagnosis
  const errors = findings.filter(({ level }) => level === 'error')
  if (errors.length > 0 || (options.strict === true && findings.length > 0)) context.exitCode = ExitCode.failure
  context.output.result({ server: word, findings, passed }, () => formatDiagnosis(diagnosis, context.output))
}

/** Returns the URL of the server and the headers that its settings have. Undefined for a server that is no URL. */
async function remoteOf(
  { terminal, serverCommand }: CommandContext,
  word: string,
  options: DoctorOptions,
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

function proberOf({ terminal }: CommandContext, headers: Record<string, string>, options: DoctorOptions): Prober {
  const token = options.token ?? terminal.env.MCPX_TOKEN
  const credentials = { ...headers, ...readHeaders(options.header), ...(token && { authorization: `Bearer ${token}` }) }
  return new Prober(credentials, terminal.signal, options.timeout)
}

/** Connects as every client does, and checks what the server lists. */
async function checkWithClient(
  context: CommandContext,
  word: string,
  options: DoctorOptions,
  diagnosis: Diagnosis,
): Promise<void> {
  try {
    await useServer(context, word, options, (client) => checkTools(client, diagnosis))
  } catch (error) {
    // The findings about the endpoint explain it better.
    if (diagnosis.findings.length === 0) throw error
    if (!(error instanceof CliError)) diagnosis.add('lists-failed', (error as Error).message)
  }
}

function formatDiagnosis({ findings, passed }: Diagnosis, output: Output): string {
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

function formatFinding({ id, level, seen, why, fix, link }: Finding, output: Output): string {
  const head = output.style(level === 'error' ? 'red' : 'yellow', `${level}: ${id}`)
  const lines = [`seen  ${plainText(seen)}`, `why   ${why}`, `fix   ${fix}`, `see   ${output.style('dim', link)}`]
  return `${head}\n${lines.map((line) => `  ${line}`).join('\n')}\n`
}
