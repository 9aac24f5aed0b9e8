/** The protocol over standard input and output, and over any two byte streams. */

export { type ServeStdioOptions, type Serving, serveStdio } from './serve-stdio.ts'
export { createStreamChannel, type StreamChannelOptions, type StreamLimits } from './stream-channel.ts'
export type { ByteSink, ByteSource } from './streams.ts'
