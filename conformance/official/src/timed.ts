/**
 * Checks that the suite decides by its own clock: what did not arrive within so many ms did not happen. When the suite itself stood still for
 * as long, it has judged the machine, and the run is made again. What fails in any other check fails at once.
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
