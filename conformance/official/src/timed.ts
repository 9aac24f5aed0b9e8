/** Checks with a timeout in the suite, in milliseconds. If the suite itself was stalled for that time, the run is repeated.
 * Failures of other checks are final.
 */
export const timed: Readonly<Record<string, number>> = {
  'sep-2575-server-no-log-without-loglevel': 500,
  'sep-2575-http-server-no-independent-requests-on-stream': 600,
  'sep-2575-server-sends-subscription-ack': 800,
  'sep-2575-server-tags-subscription-id': 800,
  'sep-2575-server-honors-notification-filter': 1_500,
  'sep-2575-server-sends-prompts-list-changed-on-subscription': 1_500,
  'sep-2575-server-sends-tools-list-changed-on-subscription': 1_500,
}
