/** Serves the skills of a folder, and bundles them for other runtimes. */

import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { kindOf, quoted, refuseUnknownOption } from '@mcpx/protocol'
import { toBase64, toText } from '../bytes.ts'
import { Catalog } from '../catalog.ts'
import { createExtension, OPTION_NAMES, type SkillsExtension, type SkillsOptions } from '../extension.ts'
import { SkillError } from '../skill.ts'
import { Folder } from './folder.ts'

/** The options of `skills` for a folder. */
export interface FolderSkillsOptions extends SkillsOptions, BundleOptions {
  /**
   * Whether to watch the files. If they change, skills are read again, and clients are notified. Default: true, unless
   * the environment variable `NODE_ENV` is `production`.
   */
  readonly watch?: boolean | undefined
}

/** The options of `bundleSkills`. */
export interface BundleOptions {
  /**
   * Returns whether a file or a directory is left out, by its path in the folder, such as `git-workflow/.env`. Default: names that
   * begin with a dot, and `node_modules`.
   */
  readonly ignore?: ((path: string) => boolean) | undefined
}

/**
 * Serves the skills of a folder: each directory with a `SKILL.md`, at any depth. Files are hashed at the start and
 * after changes. Links are not followed.
 *
 * ```ts
 * createServer(info, { extensions: [skills(new URL('./skills', import.meta.url))] })
 * ```
 *
 * @param folder a path, which is relative to the working directory, or a `file:` URL
 * @throws SkillError if the folder does not exist
 * @throws TypeError for an option that does not exist
 */
export function skills(folder: string | URL, options: FolderSkillsOptions = {}): SkillsExtension {
  refuseUnknownOption('skills', options, [...OPTION_NAMES, 'watch', 'ignore'] satisfies (keyof FolderSkillsOptions)[])
  const { watch = process.env.NODE_ENV !== 'production', ignore, ...others } = options
  const source = openFolder('skills', folder, ignore)
  const unwatched = { list: () => source.list(), read: (path: string) => source.read(path) }
  return createExtension(watch ? source : unwatched, others, true)
}

/** A file of a bundle that can be written as JSON. */
export type JsonBundle = Record<string, string | { readonly base64: string }>

/**
 * Reads the skills of a folder into one object, for runtimes without files. Write the object as JSON in your build,
 * import it, and pass it to `skills` of `@mcpx/skills`. Files outside of skills are left out.
 *
 * ```ts
 * await writeFile('src/skills.json', JSON.stringify(await bundleSkills('skills')))
 * ```
 *
 * @throws AggregateError with an error for each skill that cannot be served, so that the build fails
 */
export async function bundleSkills(folder: string | URL, options: BundleOptions = {}): Promise<JsonBundle> {
  refuseUnknownOption('bundleSkills', options, ['ignore'] satisfies (keyof BundleOptions)[])
  const source = openFolder('bundleSkills', folder, options.ignore)
  const problems: Error[] = []
  const catalog = new Catalog(source, (problem) => void problems.push(problem))
  const { files } = await catalog.read()
  if (problems.length > 0) throw new AggregateError(problems, problems.map(({ message }) => message).join('\n'))
  const bundle: JsonBundle = {}
  for (const file of files.values()) {
    const bytes = await catalog.readFile(file)
    if (bytes === undefined)
      throw new SkillError('invalid-skill', `bundleSkills: ${quoted(file.path)} has changed; try again`)
    bundle[file.path] = toText(bytes) ?? { base64: toBase64(bytes) }
  }
  return bundle
}

function openFolder(place: string, folder: string | URL, ignore = isHidden): Folder {
  if (typeof folder !== 'string' && !(folder instanceof URL)) {
    throw new TypeError(`${place}: expected the path of a folder or a URL, got ${kindOf(folder)}`)
  }
  const path = folder instanceof URL ? fileURLToPath(folder) : resolve(folder)
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return new Folder(path, ignore)
  const remedy = 'a path is relative to the working directory, so pass new URL("./skills", import.meta.url)'
  throw new SkillError('not-found', `${place}: there is no folder ${quoted(path)}; ${remedy}`)
}

function isHidden(path: string): boolean {
  return /(?:^|\/)(?:\.[^/]*|node_modules)$/.test(path)
}
