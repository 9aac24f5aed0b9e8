/** Writes a project from a template into an empty folder. */

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { ProjectError, packageNameOf, refuseName, unknownValue } from './project-name.ts'
import {
  isPackageManager,
  isTemplate,
  type PackageManager,
  packageManagers,
  type TemplateName,
  templates,
} from './templates.ts'

/** The options of `createProject`. */
export interface ProjectOptions {
  /** The folder, which must be empty or missing. It may contain `.git`. */
  readonly folder: string
  /** The template. */
  readonly template: TemplateName
  /** The name of the package and of the server. Default: a name derived from the name of the folder. */
  readonly name?: string | undefined
  /** The package manager whose commands the README shows. Default: npm. */
  readonly packageManager?: PackageManager | undefined
}

const manifestFile = createRequire(import.meta.url).resolve('create-mcpx/package.json')
const templatesFolder = join(dirname(manifestFile), 'templates')

/**
 * Writes the files of a template, with the versions of the packages that were released with this one. Returns the paths
 * of the files, relative to the folder. Throws a `ProjectError` if the folder is not empty, if the name is not a valid
 * name of an npm package, or if there is no such template or package manager.
 */
export async function createProject(options: ProjectOptions): Promise<readonly string[]> {
  const { template, packageManager = 'npm' } = options
  if (typeof options.folder !== 'string') {
    throw new ProjectError('usage', `folder: expected the path of a folder, got ${typeof options.folder}.`)
  }
  if (!isTemplate(template)) throw unknownValue('template', template, templates)
  if (!isPackageManager(packageManager)) throw unknownValue('packageManager', packageManager, packageManagers)
  const folder = resolve(options.folder)
  const name = options.name ?? packageNameOf(basename(folder))
  refuseName(name)
  await refuseFullFolder(folder)
  const versions = await readVersions()
  const { run, exec, install } = packageManagers[packageManager]
  // The name of a worker has no scope, and no other punctuation than hyphens.
  const slug = name.replace(/^@.*\//, '').replace(/[^a-z0-9-]/g, '-')
  const values: Readonly<Record<string, string>> = { name, slug, run, exec, install, ...versions }
  const source = join(templatesFolder, template)
  const files = (await readdir(source, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const paths = files.map((entry) => relative(source, join(entry.parentPath, entry.name))).sort()
  return Promise.all(
    paths.map(async (path) => {
      const text = await readFile(join(source, path), 'utf8')
      // npm leaves .gitignore out of packages, so it has another name in templates.
      const target = path.replace(/_gitignore$/, '.gitignore')
      await mkdir(dirname(join(folder, target)), { recursive: true })
      await writeFile(join(folder, target), fill(text, values, `${template}/${path}`))
      return target
    }),
  )
}

/** Throws a `ProjectError` if the folder exists and is not empty. */
export async function refuseFullFolder(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    if (error.code !== 'ENOTDIR') throw error
    throw new ProjectError('not-a-folder', `${folder}: expected a folder, got a file. Choose another folder.`)
  })
  const [first, ...others] = names.filter((name) => name !== '.git')
  if (first === undefined) return
  const found = others.length === 0 ? first : `${first} and ${others.length} more`
  throw new ProjectError(
    'folder-not-empty',
    `${folder}: expected an empty folder, got ${found}. Choose another folder.`,
  )
}

/** Returns the versions of our packages, which are development dependencies of this one. */
async function readVersions(): Promise<Record<string, string>> {
  const { devDependencies } = JSON.parse(await readFile(manifestFile, 'utf8')) as {
    devDependencies: Record<string, string>
  }
  return devDependencies
}

/** Replaces `{{key}}`. */
function fill(text: string, values: Readonly<Record<string, string>>, place: string): string {
  return text.replace(/\{\{([^{}\s]+)\}\}/g, (_, key: string) => {
    const value = values[key]
    if (value === undefined)
      throw new Error(`templates/${place}: expected one of ${Object.keys(values).join(', ')}, got {{${key}}}`)
    return value
  })
}
