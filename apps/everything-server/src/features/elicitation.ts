/** Asks the user with forms, written as zod schemas or JSON Schema, or sends the user to a URL. */
import type { ElicitOutcome, RequestedSchema } from '@mcpx/protocol'
import type { Server } from '@mcpx/server'
import { z } from 'zod'

export function addElicitation(server: Server): void {
  server
    .tool(
      'test_elicitation',
      { description: 'Asks the user who they are', input: z.object({ message: z.string() }) },
      async ({ message }, ctx) => {
        const schema = z.object({ username: z.string().meta({ description: "User's response" }), email: z.email() })
        return describeOutcome(await ctx.elicit('who', { message, schema }))
      },
    )
    .tool('test_elicitation_sep1034_defaults', { description: 'Asks with a form that has defaults' }, async (_, ctx) =>
      describeOutcome(await ctx.elicit('form', { message: 'Please review the form', schema: withDefaults })),
    )
    .tool('test_elicitation_sep1330_enums', { description: 'Asks with a form of enums' }, async (_, ctx) =>
      describeOutcome(await ctx.elicit('choices', { message: 'Please choose', schema: choices })),
    )
    .tool(
      'sign_in',
      { description: 'Sends the user to a page, for input that a form may not ask for' },
      async (_, ctx) => {
        const url = `https://example.com/sign-in?for=${crypto.randomUUID()}`
        const { action } = await ctx.openUrl('sign-in', {
          message: 'Please sign in on this page',
          url,
          otherwise: `Ask the user to sign in at ${url}.`,
        })
        return action === 'accept' ? 'The user is on the way.' : 'The user does not want to.'
      },
    )
}

const withDefaults = z.object({
  name: z.string().default('John Doe'),
  age: z.number().int().default(30),
  score: z.number().default(95.5),
  status: z.enum(['active', 'inactive', 'pending']).default('active'),
  verified: z.boolean().default(true),
})

const titled = [
  { const: 'value1', title: 'First Option' },
  { const: 'value2', title: 'Second Option' },
  { const: 'value3', title: 'Third Option' },
]

/** Written as JSON Schema, because schema libraries have no titles for the values of an enum. */
const choices: RequestedSchema = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string', oneOf: titled },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2'], enumNames: ['Option One', 'Option Two'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: { type: 'array', items: { anyOf: titled } },
  },
}

function describeOutcome({ action, content }: ElicitOutcome<RequestedSchema>): string {
  return `User response: action=${action}, content=${JSON.stringify(content ?? {})}`
}
