/** A server of the protocol: one handler for every revision, on any transport. */

export type { AnswerCheck, Asker, Question } from './asker.ts'
export type { Mountable } from './compose.ts'
export { audio, type BlockOptions, image, link, type ResourceBlockOptions, resource, text } from './content.ts'
export { SERVER_LIMITS, type ServerLimits } from './core.ts'
export type { OnError } from './faults.ts'
export type { Fluent, NoOffers } from './fluent.ts'
export { inputRequired } from './input-required.ts'
export type { Endpoint, Middleware, Next, ServerRequest } from './middleware.ts'
export { createServer, type Server } from './server.ts'
export type { ServerOptions } from './server-core.ts'
export { ToolError } from './tool-error.ts'
