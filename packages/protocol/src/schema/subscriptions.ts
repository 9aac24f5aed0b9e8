/** Subscriptions: one long request on whose stream a server tells what has changed. */

import { array, boolean, object, optional, type Shape, string } from './define.ts'
import { notificationParams, requestParams, result } from './primitives.ts'

const subscriptionFilter = () => ({
  toolsListChanged: optional(boolean),
  promptsListChanged: optional(boolean),
  resourcesListChanged: optional(boolean),
  /** URIs of resources to watch. */
  resourceSubscriptions: optional(array(string)),
})
/** Which changes to tell of. */
export interface SubscriptionFilter extends Shape<typeof subscriptionFilter> {}
export const SubscriptionFilter = /* @__PURE__ */ object<SubscriptionFilter>(subscriptionFilter)

const subscriptionsListenRequestParams = () => ({ ...requestParams(), notifications: SubscriptionFilter })
/** Parameters of `subscriptions/listen`. */
export interface SubscriptionsListenRequestParams extends Shape<typeof subscriptionsListenRequestParams> {}
export const SubscriptionsListenRequestParams = /* @__PURE__ */ object<SubscriptionsListenRequestParams>(
  subscriptionsListenRequestParams,
)

const subscriptionsAcknowledgedNotificationParams = () => ({
  ...notificationParams(),
  /** The part of the filter that the server follows. */
  notifications: SubscriptionFilter,
})
/** Parameters of `notifications/subscriptions/acknowledged`, the first message of every subscription. */
export interface SubscriptionsAcknowledgedNotificationParams
  extends Shape<typeof subscriptionsAcknowledgedNotificationParams> {}
export const SubscriptionsAcknowledgedNotificationParams =
  /* @__PURE__ */ object<SubscriptionsAcknowledgedNotificationParams>(subscriptionsAcknowledgedNotificationParams)

/** Ends a subscription from the server's side. */
export interface SubscriptionsListenResult extends Shape<typeof result> {}
export const SubscriptionsListenResult = /* @__PURE__ */ object<SubscriptionsListenResult>(result)
