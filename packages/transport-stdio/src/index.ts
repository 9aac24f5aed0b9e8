/** MCP over standard input and output, and over any two byte streams. */

export type { ByteSink, ByteSource } from './lines.ts'
export type { RestartOptions } from './restart.ts'
export { type ServeStdioOptions, type Serving, serveStdio } from './serve.ts'
export { ServerExitError } from './server-exit.ts'
export { type ShutdownTimes, type SpawnConnector, type SpawnOptions, type StderrTarget, spawn } from './spawn.ts'
export {
  createStreamChannel,
  type OverStreamsOptions,
  overStreams,
  type StreamChannelOptions,
  type StreamLimits,
  type StreamPair,
} from './stream-channel.ts'
