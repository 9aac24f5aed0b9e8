/** Elicitation: a server asks the user, with a form or by sending them to a URL. */

import { array, boolean, literal, number, object, optional, record, type Shape, string, union } from './define.ts'
import { PrimitiveSchemaDefinition } from './elicitation-fields.ts'
import { requestParams, result } from './primitives.ts'

const requestedSchema = () => ({
  $schema: optional(string),
  type: literal('object'),
  properties: record(PrimitiveSchemaDefinition),
  required: optional(array(string)),
})
/** The form: flat, with primitive values only. */
export interface RequestedSchema extends Shape<typeof requestedSchema> {}
export const RequestedSchema = /* @__PURE__ */ object<RequestedSchema>(requestedSchema)

export const elicitRequestFormParams = () => ({
  ...requestParams(),
  /** Absent means `form`. */
  mode: optional(literal('form')),
  /** What to tell the user. */
  message: string,
  requestedSchema: RequestedSchema,
})
/** Asks the user to fill in a form. Secrets must not be asked for this way. */
export interface ElicitRequestFormParams extends Shape<typeof elicitRequestFormParams> {}
export const ElicitRequestFormParams = /* @__PURE__ */ object<ElicitRequestFormParams>(elicitRequestFormParams)

export const elicitRequestURLParams = () => ({
  ...requestParams(),
  mode: literal('url'),
  /** Why the user should go there. */
  message: string,
  url: string,
})
/** Asks the user to visit a URL. */
export interface ElicitRequestURLParams extends Shape<typeof elicitRequestURLParams> {}
export const ElicitRequestURLParams = /* @__PURE__ */ object<ElicitRequestURLParams>(elicitRequestURLParams)

/** Parameters of `elicitation/create`; `mode` tells which. */
export type ElicitRequestParams = ElicitRequestFormParams | ElicitRequestURLParams
export const ElicitRequestParams = /* @__PURE__ */ union([ElicitRequestFormParams, ElicitRequestURLParams])

const elicitRequest = () => ({ method: literal('elicitation/create'), params: ElicitRequestParams })
/** Elicitation as one of the things an unfinished request asks for. */
export interface ElicitRequest extends Shape<typeof elicitRequest> {}
export const ElicitRequest = /* @__PURE__ */ object<ElicitRequest>(elicitRequest)

const elicitResult = () => ({
  ...result(),
  /** For a URL, `accept` means that the user agreed to go there, not that they are done. */
  action: literal(['accept', 'decline', 'cancel']),
  /** The form's values, if the user accepted. */
  content: optional(record(union([string, number, boolean, array(string)]))),
})
/** What the user did. */
export interface ElicitResult extends Shape<typeof elicitResult> {}
export const ElicitResult = /* @__PURE__ */ object<ElicitResult>(elicitResult)
