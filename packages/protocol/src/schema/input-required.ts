/** Unfinished requests: the result that asks for input, and what a retry brings along. */

import { literal, object, optional, record, type Shape, string, union } from './define.ts'
import { ElicitRequest, ElicitResult } from './elicitation.ts'
import { result } from './primitives.ts'
import { ListRootsRequest, ListRootsResult } from './roots.ts'
import { CreateMessageRequest, CreateMessageResult } from './sampling.ts'

/** One thing that an unfinished request asks for; `method` tells which. */
export type InputRequest = CreateMessageRequest | ListRootsRequest | ElicitRequest
export const InputRequest = /* @__PURE__ */ union([CreateMessageRequest, ListRootsRequest, ElicitRequest])

/** All that an unfinished request asks for, under names that the server chose. */
export interface InputRequests extends Record<string, InputRequest> {}
export const InputRequests = /* @__PURE__ */ record(InputRequest)

/** One answer; which kind it is follows from what was asked under its name. */
export type InputResponse = CreateMessageResult | ListRootsResult | ElicitResult
export const InputResponse = /* @__PURE__ */ union([CreateMessageResult, ListRootsResult, ElicitResult])

/** Answers under the names of what was asked. */
export interface InputResponses extends Record<string, InputResponse> {}
export const InputResponses = /* @__PURE__ */ record(InputResponse)

const inputRequiredResult = () => ({
  ...result(),
  resultType: literal('input_required'),
  inputRequests: optional(InputRequests),
  /** To be sent back as it is. */
  requestState: optional(string),
})
/** The request is to be sent again, with these answers or later. One of the two members is there. */
export interface InputRequiredResult extends Shape<typeof inputRequiredResult> {}
export const InputRequiredResult = /* @__PURE__ */ object<InputRequiredResult>(inputRequiredResult)

export const inputResponseParams = () => ({
  inputResponses: optional(InputResponses),
  /** The `requestState` of the result before; to be treated as if an attacker had written it. */
  requestState: optional(string),
})
/** What a request that may be sent again can bring along. */
export interface InputResponseParams extends Shape<typeof inputResponseParams> {}
