/** Checks the arguments of registrations and of `createServer`, for callers without TypeScript. */

import { isObject, kindOf, MAX_NAME_LENGTH, MAX_URI_LENGTH, quoted, tooLong, unknownOption } from '@mcpx/protocol'
import { RegistrationError } from './errors.ts'

/** The options that tools, prompts and resources share. */
export const COMMON_OPTIONS = ['title', 'description', 'icons', '_meta', 'visible', 'scopes', 'replace'] as const

const FORMS = {
  Tool: '.tool(name, { description, input }, (args, ctx) => …)',
  Prompt: '.prompt(name, { description, args }, (args, ctx) => …)',
  Resource: '.resource(uri, { description }, content, or (variables, ctx) => …)',
}

/** The tool options of our extensions, with the function that creates each extension. */
const EXTENSION_OPTIONS: Readonly<Record<string, string>> = {
  task: 'tasks() of @mcpx/tasks',
  resumable: 'tasks() of @mcpx/tasks',
  ui: 'apps() of @mcpx/apps',
}

/** Our option names, by the names that other libraries use. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  inputSchema: 'input',
  parameters: 'input',
  outputSchema: 'output',
  argsSchema: 'args',
}

/**
 * Checks the arguments of `tool`, `prompt` and `resource`, for callers without TypeScript. Returns the beginning of error
 * messages about the item. Throws a `RegistrationError` that shows the correct form.
 */
export function checkRegistration(
  kind: keyof typeof FORMS,
  [name, options, run]: readonly [name: unknown, options: unknown, run: unknown],
  optionNames: readonly string[],
): string {
  const label = typeof name === 'string' ? `${kind} ${quoted(name)}` : kind
  const hasHandler = kind === 'Resource' ? run !== undefined : typeof run === 'function'
  if (typeof name !== 'string' || !isObject(options) || !hasHandler) {
    const given = [name, options, run].map(kindOf).join(', ')
    throw new RegistrationError(`${label}: expected ${FORMS[kind]}, got (${given})`)
  }
  const [what, limit] = kind === 'Resource' ? (['URI', MAX_URI_LENGTH] as const) : (['name', MAX_NAME_LENGTH] as const)
  if (name.length > limit) throw new RegistrationError(tooLong(`${label}, ${what}`, limit, name))
  for (const [option, extension] of Object.entries(EXTENSION_OPTIONS)) {
    if (kind !== 'Tool' || optionNames.includes(option) || !Object.hasOwn(options, option)) continue
    const remedy = `pass ${extension} to createServer(info, { extensions: [...] })`
    throw new RegistrationError(`${label}: the option ${quoted(option)} belongs to an extension; ${remedy}`)
  }
  checkOptionNames(label, options, optionNames)
  return label
}

/** Throws a `RegistrationError` if an option does not exist. The error names the first unknown option, and a similar one. */
export function checkOptionNames(label: string, options: object, optionNames: readonly string[]): void {
  const problem = unknownOption(label, options, optionNames, OTHER_NAMES)
  if (problem !== undefined) throw new RegistrationError(problem)
}

/** Returns the members with these names that are not undefined. */
export function pickDefined<Options extends object, Name extends keyof Options>(
  options: Options,
  ...names: readonly Name[]
): { [Key in Name]?: Exclude<Options[Key], undefined> } {
  const picked: { [Key in Name]?: Exclude<Options[Key], undefined> } = {}
  for (const name of names) {
    const value = options[name]
    if (value !== undefined) picked[name] = value as (typeof picked)[Name]
  }
  return picked
}
