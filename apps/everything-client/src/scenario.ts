/** What a scenario is: a function that uses the server at a URL as the suite expects it. */

/** What the suite says of a run. */
export interface Run {
  readonly url: string
  readonly scenario: string
  /** What the scenario needs to know besides, such as credentials. */
  readonly context: Readonly<Record<string, unknown>>
}

export type Scenario = (run: Run) => Promise<void>

/** Scenarios under the names that the suite gives them. */
export type Scenarios = Readonly<Record<string, Scenario>>
