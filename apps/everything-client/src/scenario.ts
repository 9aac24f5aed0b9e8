/** What a scenario is: a function that uses the server at a URL as the suite expects it. */
import { type Client, type ClientOptions, connect } from '@mcpx/client'
import type { Revision } from '@mcpx/protocol'
import { type HttpOptions, http } from '@mcpx/transport-http/client'

/** What the suite says of a run. */
export interface Run {
  readonly url: string
  readonly scenario: string
  /** The only one that may be spoken. */
  readonly revision: Revision
  /** What the scenario needs to know besides, such as credentials. */
  readonly context: Readonly<Record<string, unknown>>
}

export type Scenario = (run: Run) => Promise<void>

/** Scenarios under the names that the suite gives them. */
export type Scenarios = Readonly<Record<string, Scenario>>

/** Connects in the revision of the run. Many clients start at once, and all ask the same process: it may take its time to answer. */
export function reach({ url, revision }: Run, options: ClientOptions = {}, way: HttpOptions = {}): Promise<Client> {
  return connect(http(url, { probeTimeout: 25_000, ...way }), { ...options, era: revision })
}
