/** The type of a third-party server or client from npm, with its checks. */

export type Check = (name: string, body: () => Promise<void>) => Promise<void>

/** The environment of the checks. */
export interface Environment {
  /** The URL of our server. */
  readonly url: string
  /** The command line of our server. */
  readonly command: readonly string[]
  /** An empty folder. */
  readonly folder: string
}

export interface ThirdParty {
  readonly package: string
  readonly is: 'server' | 'client'
  /** The transport, and the revision if it is fixed. */
  readonly over: string
  run(check: Check, environment: Environment): Promise<void>
}
