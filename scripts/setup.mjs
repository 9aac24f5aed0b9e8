// Prepares a fresh clone. Needs only Node 20 and npm: installs everything else once, and puts it in front of PATH.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { capture, endChildrenWithUs } from './children.mjs'
import { elapsed, showProgress } from './progress.mjs'

const OLDEST_NODE = 20

export const root = fileURLToPath(new URL('..', import.meta.url))
const bin = join(root, 'node_modules', '.bin')
const stampFile = join(root, 'node_modules', '.setup')

/** Installs if a manifest or the lockfile has changed; returns the environment of the tools. */
export async function setup() {
  const major = Number(process.versions.node.split('.')[0])
  if (major < OLDEST_NODE) stop(`Node ${OLDEST_NODE} or newer is needed, this is ${process.version}: update Node.`)
  const wanted = fingerprint()
  if (readStamp() !== wanted || !existsSync(join(bin, 'node'))) {
    await install()
    writeFileSync(stampFile, wanted)
  }
  return toolEnvironment()
}

/** Prints an error with its remedy, and exits. */
export function stop(sentence) {
  process.stderr.write(`\n${sentence}\n`)
  process.exit(1)
}

/** A hash of everything that an install depends on. */
function fingerprint() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`)
  const files = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', ...workspaceManifests()]
  for (const file of files) {
    const path = join(root, file)
    if (!existsSync(path)) stop(`${file} is missing: restore it with \`git checkout ${file}\`.`)
    hash.update(file).update(readFileSync(path))
  }
  return hash.digest('hex')
}

/** The package.json files of the folders that pnpm-workspace.yaml names with a star at the end. */
function workspaceManifests() {
  const text = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')
  const folders = [...text.matchAll(/^ {2}- ['"]?([\w/-]+)\/\*['"]?$/gm)].map((match) => match[1])
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}/package.json`))
    .filter((file) => existsSync(join(root, file)))
    .sort()
}

function readStamp() {
  try {
    return readFileSync(stampFile, 'utf8')
  } catch {
    return undefined
  }
}

/** Installs the dependencies of the lockfile. */
async function install() {
  const pnpm = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).packageManager
  process.stdout.write(`setup: installing the tools and dependencies with ${pnpm} (the first time takes a minute)\n`)
  const progress = showProgress('setup')
  const onText = (text) => {
    const line = text.trim().split('\n').at(-1)
    if (/^(Progress|Downloading|Packages|\.\.\.|\? |✓|\[WARN\])/.test(line)) progress.note(line)
  }
  const env = installEnvironment()
  const args = ['-y', pnpm, 'install', '--frozen-lockfile', '--config.confirm-modules-purge=false']
  const result = await capture('npx', args, { cwd: root, env, onText })
  const seconds = progress.done()
  if (result.code !== 0) {
    process.stderr.write(`${quiet(result.output)}\n`)
    stop(reason(result, pnpm))
  }
  process.stdout.write(`setup: installed in ${elapsed(seconds)}\n`)
}

/** npm passes its settings to its scripts; pnpm must not read them as its own. */
function installEnvironment() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_(lifecycle|package)_/.test(name)))
}

function toolEnvironment() {
  // Windows may spell it `Path`; an environment must not have both.
  const name = Object.keys(process.env).find((key) => key.toUpperCase() === 'PATH') ?? 'PATH'
  const path = [bin, process.env[name]].join(delimiter)
  return { ...process.env, [name]: path, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' }
}

/** The last lines of the output, without the notices of npm. */
function quiet(output) {
  const lines = output.split('\n').filter((line) => !/^npm (notice|warn)/.test(line) && line.trim() !== '')
  return lines.slice(-20).join('\n')
}

function reason({ code, output, timedOut }, pnpm) {
  const again = 'then run the same command again'
  if (timedOut) return `Installing took more than 30 minutes and was stopped: check the network, ${again}.`
  if (code === 127) return `npx was not found: install npm (it comes with Node), ${again}.`
  if (/OUTDATED_LOCKFILE/.test(output)) {
    return `pnpm-lock.yaml does not fit the package.json files: run \`npx -y ${pnpm} install\`, commit pnpm-lock.yaml, ${again}.`
  }
  if (/LOCKFILE/.test(output)) {
    return `pnpm-lock.yaml cannot be read: restore it with \`git checkout pnpm-lock.yaml\`, ${again}.`
  }
  if (
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|network|dns error|error sending/i.test(output)
  ) {
    return `The package registry could not be reached: check the network or the proxy, ${again}.`
  }
  if (/ENOSPC/.test(output)) return `The disk is full: make room (about 1 GB), ${again}.`
  return `Installing failed (the lines above say why): fix that, ${again}.`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  endChildrenWithUs()
  await setup()
  process.stdout.write('setup: ready\n')
}
