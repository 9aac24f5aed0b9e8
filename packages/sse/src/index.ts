/** Encodes and decodes server-sent events. */

export { createDecoder, type Decoder, type DecoderEnd, type DecoderOptions, type SseEvent } from './decode.ts'
export { type DecodeStreamOptions, decodeStream } from './decode-stream.ts'
export { encodeComment, encodeEvent, encodeEventBytes, type SseEventInit } from './encode.ts'
export { SseError, type SseErrorReason } from './sse-error.ts'
