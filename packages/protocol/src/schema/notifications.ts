/** Notifications about requests and resources. */

import { number, object, optional, type Shape, string } from './define.ts'
import { notificationParams, ProgressToken, RequestId } from './primitives.ts'

const cancelledNotificationParams = () => ({
  ...notificationParams(),
  /** The request to give up. A notification without it has no effect. */
  requestId: optional(RequestId),
  reason: optional(string),
})
/** Parameters of `notifications/cancelled`. */
export interface CancelledNotificationParams extends Shape<typeof cancelledNotificationParams> {}
export const CancelledNotificationParams =
  /* @__PURE__ */ object<CancelledNotificationParams>(cancelledNotificationParams)

const progressNotificationParams = () => ({
  ...notificationParams(),
  progressToken: ProgressToken,
  /** Grows with every notification. */
  progress: number,
  total: optional(number),
  message: optional(string),
})
/** Parameters of `notifications/progress`. */
export interface ProgressNotificationParams extends Shape<typeof progressNotificationParams> {}
export const ProgressNotificationParams = /* @__PURE__ */ object<ProgressNotificationParams>(progressNotificationParams)

const resourceUpdatedNotificationParams = () => ({
  ...notificationParams(),
  /** The resource that changed; may lie below the one that was subscribed to. */
  uri: string,
})
/** Parameters of `notifications/resources/updated`. */
export interface ResourceUpdatedNotificationParams extends Shape<typeof resourceUpdatedNotificationParams> {}
export const ResourceUpdatedNotificationParams = /* @__PURE__ */ object<ResourceUpdatedNotificationParams>(
  resourceUpdatedNotificationParams,
)
