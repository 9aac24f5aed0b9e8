/** The protocol over standard input and output, and over any two byte streams. */

export type { RestartOptions } from './back-off.ts'
export { type OverStreamsOptions, overStreams, type StreamPair } from './over-streams.ts'
export { type ServeStdioOptions, type Serving, serveStdio } from './serve-stdio.ts'
export { ServerExitError } from './server-exit.ts'
export { type SpawnConnector, spawn } from './spawn.ts'
export type { ShutdownTimes, SpawnOptions, StderrTarget } from './spawn-options.ts'
export { createStreamChannel, type StreamChannelOptions, type StreamLimits } from './stream-channel.ts'
export type { ByteSink, ByteSource } from './streams.ts'
