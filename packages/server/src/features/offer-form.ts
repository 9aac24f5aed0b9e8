/** Refuses offers in a form that no method takes. The types say the same, to those who have them. */

import { kindOf, quoted } from '@mcpx/protocol'
import { RegistrationError } from './registration-error.ts'
import { isObject } from './subschemas.ts'

const FORMS = {
  Tool: '.tool(name, { description, input }, (args, ctx) => …)',
  Prompt: '.prompt(name, { description, args }, (args, ctx) => …)',
  Resource: '.resource(uri, { description }, content, or (variables, ctx) => …)',
}

/** Options that go by another name elsewhere. */
const ELSEWHERE = { inputSchema: 'input', parameters: 'input', outputSchema: 'output', argsSchema: 'args' }

/** What errors about an offer begin with. Throws a `RegistrationError` that shows how one is written. */
export function checkOffer(kind: keyof typeof FORMS, name: unknown, options: unknown, run: unknown): string {
  const what = typeof name === 'string' ? `${kind} ${quoted(name)}` : kind
  const refuse = (reason: string) => new RegistrationError(`${what}: ${reason}`)
  const fits = kind === 'Resource' ? run !== undefined : typeof run === 'function'
  if (typeof name !== 'string' || !isObject(options) || !fits)
    throw refuse(`expected ${FORMS[kind]}, got (${[name, options, run].map(kindOf).join(', ')})`)
  for (const [other, own] of Object.entries(ELSEWHERE))
    if (other in options) throw refuse(`there is no option "${other}"; it is called "${own}"`)
  return what
}
