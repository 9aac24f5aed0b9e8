/** Copies the built packages, applies the changesets to the copy and builds its JavaScript again. The repository is not changed. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './tool.ts'

export interface ReleaseCopy {
  /** The root of the copy. */
  readonly root: string
  /** The folders of the published packages. */
  readonly folders: readonly string[]
  /** A line for each package: its name, its old version and its new version. */
  readonly changes: readonly string[]
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
}

const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** Copies the built packages, lets changesets set their versions and write their changelogs, and builds these versions. */
export async function copyWithVersions(repository: string): Promise<ReleaseCopy> {
  const root = mkdtempSync(join(tmpdir(), 'release-'))
  for (const name of ['package.json', 'pnpm-workspace.yaml', 'tsconfig.base.json', 'LICENSE', '.changeset'])
    cpSync(join(repository, name), join(root, name), { recursive: true })
  const names = readdirSync(join(repository, 'packages'))
  for (const name of names) {
    const filter = (path: string): boolean => !/[\\/](?:node_modules|\.turbo)(?:$|[\\/])/.test(path)
    cpSync(join(repository, 'packages', name), join(root, 'packages', name), { recursive: true, filter })
  }
  link(root, names)
  const before = new Map(names.map((name) => [name, manifestOf(join(root, 'packages', name)).version]))
  await version(repository, root)
  const published = names.filter((name) => manifestOf(join(root, 'packages', name)).private !== true)
  const folders = published.map((name) => join(root, 'packages', name))
  for (const folder of folders) await build(repository, folder)
  return {
    root,
    folders,
    changes: published.map((name) => {
      const now = manifestOf(join(root, 'packages', name))
      return `${now.name} ${before.get(name)} -> ${now.version}`
    }),
  }
}

/** Links our packages in node_modules, where packing resolves `workspace:` ranges. */
function link(root: string, names: readonly string[]): void {
  for (const name of names) {
    const place = join(root, 'packages', name, 'node_modules', '@mcpx')
    mkdirSync(place, { recursive: true })
    for (const other of names) if (other !== name) symlinkSync(join('../../..', other), join(place, other), 'dir')
  }
}

/** Runs changesets in a git repository with a single commit, because changesets read the history. */
async function version(repository: string, root: string): Promise<void> {
  const git = ['-c', 'user.name=release', '-c', 'user.email=release@localhost', '-c', 'commit.gpgsign=false']
  const steps = [
    ['git', 'init', '--quiet', '--initial-branch=main'],
    ['git', 'add', '.'],
    ['git', ...git, 'commit', '--quiet', '--message=A copy'],
    [process.execPath, join(repository, 'node_modules/@changesets/cli/bin.js'), 'version'],
  ]
  for (const [command = '', ...args] of steps) {
    const { code, output } = await run(command, args, root)
    if (code !== 0) throw new Error(`\`${command} ${args.join(' ')}\` failed in the copy:\n${output}`)
  }
}

/**
 * Builds the JavaScript of a package, which contains its version. The types do not contain the version, so they are not
 * built again.
 */
async function build(repository: string, folder: string): Promise<void> {
  const rolldown = join(repository, 'node_modules/rolldown/bin/cli.mjs')
  const args = [rolldown, '-c', join(repository, 'rolldown.config.mjs'), '--no-clean-dir', '--log-level', 'warn']
  const { code, output } = await run(process.execPath, args, folder)
  if (code !== 0) throw new Error(`${folder} cannot be built:\n${output}`)
}
