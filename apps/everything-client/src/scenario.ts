/** The types of scenarios: functions that use the server at a URL as the suite expects. */
import { type Client, type ClientOptions, connect } from '@mcpx/client'
import type { Revision } from '@mcpx/protocol'
import { type HttpOptions, http } from '@mcpx/transport-http/client'

/** The parameters of a run. The suite sets them. */
export interface Run {
  readonly url: string
  readonly scenario: string
  /** The only revision that the client may use. */
  readonly revision: Revision
  /** Further data of the scenario, such as credentials. */
  readonly context: Readonly<Record<string, unknown>>
}

export type Scenario = (run: Run) => Promise<void>

/** Scenarios by the names of the suite. */
export type Scenarios = Readonly<Record<string, Scenario>>

/** Connects in the revision of the run. The suite starts many clients at once, so the probe timeout is long. */
export function open(
  { url, revision }: Run,
  options: ClientOptions = {},
  httpOptions: HttpOptions = {},
): Promise<Client> {
  return connect(http(url, { probeTimeout: 25_000, ...httpOptions }), { ...options, era: revision })
}
