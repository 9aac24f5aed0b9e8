/** OpenTelemetry for servers and clients: the option `telemetry` of `createServer` and `connect`. */

export type { Trust } from './propagation.ts'
export { type TelemetryOptions, telemetry } from './telemetry.ts'
