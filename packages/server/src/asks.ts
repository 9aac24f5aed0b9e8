/** Questions to the client as values, for `ctx.ask`: several of them make one round. */

import type {
  Ask,
  CreateMessageResult,
  ElicitOptions,
  ElicitOutcome,
  ElicitResult,
  FormSchema,
  ListRootsResult,
  OpenUrlOptions,
  Root,
  SampleParams,
} from '@mcpx/protocol'
import { checkForm, toRequestedSchema } from './form.ts'

/**
 * Asks the user to fill in a form. Throws a `QuestionError` for a schema that no form can show.
 *
 * ```ts
 * const { seat, meal } = await ctx.ask({
 *   seat: elicit({ message: 'Which seat?', schema: z.object({ row: z.number().int() }) }),
 *   meal: elicit({ message: 'Which meal?', schema: z.object({ meal: z.enum(['fish', 'pasta']) }) }),
 * })
 * ```
 */
export function elicit<Form extends FormSchema>({ message, schema }: ElicitOptions<Form>): Ask<ElicitOutcome<Form>> {
  const requestedSchema = toRequestedSchema(schema)
  return {
    request: { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } },
    check: (response) => checkForm(schema, requestedSchema, response) as Promise<{ value: ElicitOutcome<Form> }>,
  }
}

/** Asks the user to visit a URL. `accept` means that they agreed to, not that they are done. */
export function openUrl({ message, url }: OpenUrlOptions): Ask<ElicitResult> {
  return { request: { method: 'elicitation/create', params: { mode: 'url', message, url } } }
}

/**
 * Asks the client's model.
 *
 * @deprecated The protocol may drop sampling from its first revision on or after 2027-07-28 on (SEP-2577): call the
 * model's provider.
 */
export function sample(params: SampleParams): Ask<CreateMessageResult> {
  return { request: { method: 'sampling/createMessage', params } }
}

/**
 * Asks for the folders that the client works in.
 *
 * @deprecated The protocol may drop roots from its first revision on or after 2027-07-28 on (SEP-2577): take folders as
 * arguments, URIs or configuration.
 */
export function roots(): Ask<Root[]> {
  return {
    request: { method: 'roots/list' },
    check: (response) => ({ value: (response as ListRootsResult).roots }),
  }
}
