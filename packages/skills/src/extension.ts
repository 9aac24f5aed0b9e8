/** The skills extension of a server: its methods, and the files of skills among the resources. SEP-2640. */

import {
  type Change,
  type Context,
  type Handler,
  isObject,
  type JsonObject,
  kindOf,
  PaginatedRequestParams,
  ResourceRequestParams,
  refuseUnknownOption,
} from '@mcpx/protocol'
import { Catalog } from './catalog.ts'
import { type ServiceOptions, SkillService } from './service.ts'
import { SKILLS_EXTENSION } from './skill.ts'
import { createBundleSource, isSource, type SkillBundle, type SkillSource } from './source.ts'

/** The options of `skills`. */
export interface SkillsOptions extends ServiceOptions {
  /** Whether clients may list the directories of skills. Default: true. */
  readonly directoryRead?: boolean | undefined
  /**
   * Called with each skill that is left out, and why. Default: the `onError` of the server, which writes to standard error by
   * default.
   */
  readonly onWarning?: ((warning: Error) => void) | undefined
}

/** The names of the options of `skills`. */
export const OPTION_NAMES: readonly (keyof SkillsOptions)[] = [
  'directoryRead',
  'visible',
  'cache',
  'pageSize',
  'onWarning',
]

/** The parts of a server that the extension uses. */
export interface SkillsHost {
  /** Aborted when the server is closed. */
  readonly closing: AbortSignal
  /** Reports a fault to `onError` of the server. */
  report(error: unknown): unknown
}

/** A method of the extension. */
interface SkillsMethod {
  readonly params: typeof PaginatedRequestParams | typeof ResourceRequestParams
  readonly cacheable: true
  run(params: Parameters<SkillService['readDirectory']>[0], ctx: Context): Promise<object>
}

/** The skills extension, for the option `extensions` of `createServer`. */
export interface SkillsExtension {
  /** The id of the extension. */
  readonly id: typeof SKILLS_EXTENSION
  /** The settings that clients see. */
  readonly settings: JsonObject
  /** Called by the server. */
  install(host: SkillsHost): { readonly methods: Readonly<Record<string, SkillsMethod>>; readonly handler: Handler }
}

/**
 * Serves skills, from a bundle or from a source of your own. `@mcpx/skills/node` serves those of a folder.
 *
 * ```ts
 * const server = createServer(info, { extensions: [skills({ 'git-workflow/SKILL.md': text })] })
 * ```
 *
 * @throws TypeError for a source or an option that does not exist
 */
export function skills(source: SkillBundle | SkillSource, options: SkillsOptions = {}): SkillsExtension {
  refuseUnknownOption('skills', options, OPTION_NAMES)
  if (isSource(source)) return createExtension(source, options)
  if (isObject(source) && !(source instanceof URL))
    return createExtension(createBundleSource(source as SkillBundle), options)
  const remedy = 'for a folder, import `skills` from "@mcpx/skills/node"'
  throw new TypeError(
    `skills: expected files by path, or a source with list() and read(), got ${kindOf(source)}; ${remedy}`,
  )
}

/** @param isEager whether the files are read when the server is created. Default: with the first request */
export function createExtension(source: SkillSource, options: SkillsOptions, isEager = false): SkillsExtension {
  const { directoryRead = true, onWarning } = options
  return {
    id: SKILLS_EXTENSION,
    settings: directoryRead ? { directoryRead } : {},
    install(host) {
      const listeners = new Set<{ readonly onChange: (change: Change) => void }>()
      const publish = () => {
        for (const { onChange } of [...listeners]) onChange({ kind: 'resources' })
      }
      const report = (error: unknown) => void host.report(error)
      const catalog = new Catalog(source, onWarning ?? report)
      const service = new SkillService(catalog, options, publish)
      if (isEager) catalog.read().catch(report)
      const refresh = () => void catalog.refresh().then((hasChanged) => hasChanged && publish(), report)
      const stop = source.watch?.(refresh, onWarning ?? report)
      if (stop !== undefined) host.closing.addEventListener('abort', stop, { once: true })
      return {
        methods: createMethods(service, directoryRead),
        // Without `owns`, the server asks this handler only for resources that no other part has.
        handler: {
          listResources: (page, ctx) => service.listResources(page, ctx),
          readResource: (params, ctx) => service.readResource(params, ctx),
          changes(onChange) {
            const entry = { onChange }
            listeners.add(entry)
            return () => void listeners.delete(entry)
          },
        },
      }
    },
  }
}

function createMethods(service: SkillService, directoryRead: boolean): Readonly<Record<string, SkillsMethod>> {
  const define = (params: SkillsMethod['params'], run: SkillsMethod['run']): SkillsMethod => ({
    params,
    cacheable: true,
    run,
  })
  return {
    'skills/list': define(PaginatedRequestParams, (params, ctx) => service.listSkills(params, ctx)),
    'skills/get': define(ResourceRequestParams, (params, ctx) => service.getSkill(params, ctx)),
    ...(directoryRead && {
      'resources/directory/read': define(ResourceRequestParams, (params, ctx) => service.readDirectory(params, ctx)),
    }),
  }
}
