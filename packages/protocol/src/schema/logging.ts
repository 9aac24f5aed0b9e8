/** Logging: what a server tells the client about its work. */

import { literal, object, optional, type Shape, string, unknown } from './define.ts'
import { notificationParams } from './primitives.ts'

/** The levels of RFC 5424, mildest first. */
export const LOGGING_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

/** How serious a log entry is. */
export type LoggingLevel = (typeof LOGGING_LEVELS)[number]
export const LoggingLevel = /* @__PURE__ */ literal(LOGGING_LEVELS)

const loggingMessageNotificationParams = () => ({
  ...notificationParams(),
  level: LoggingLevel,
  /** Which part of the server speaks. */
  logger: optional(string),
  /** Any JSON value. */
  data: unknown,
})
/** Parameters of `notifications/message`. */
export interface LoggingMessageNotificationParams extends Shape<typeof loggingMessageNotificationParams> {}
export const LoggingMessageNotificationParams = /* @__PURE__ */ object<LoggingMessageNotificationParams>(
  loggingMessageNotificationParams,
)
