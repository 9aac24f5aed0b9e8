/** What can be said about the process of a server. */

import type { DuplexLimits } from '@mcpx/protocol'
import type { RestartOptions } from './back-off.ts'
import type { StreamLimits } from './stream-channel.ts'

/** How long each step of closing may take, in ms; a step whose time is up is followed by the next. */
export interface ShutdownTimes {
  /** After its input was ended. Default: 2,000. */
  readonly end?: number | undefined
  /** After SIGTERM. Default: 2,000. Windows has no such signal and ends the processes here. */
  readonly terminate?: number | undefined
  /** After SIGKILL. Default: 1,000. */
  readonly kill?: number | undefined
}

/** Where a server's standard error goes: `inherit`: to that of this process. It is passed on and never interpreted. */
export type StderrTarget = 'inherit' | 'ignore' | ((text: string) => void) | { readonly file: string | URL }

export interface SpawnOptions extends Pick<StreamLimits, 'maxLineLength' | 'maxUnsent'> {
  /**
   * Environment variables for the server, beside the few that any program needs, such as PATH and HOME. `undefined`
   * takes one away. `env: process.env` hands over all. Default: none.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** The folder to start in. Default: that of this process. */
  readonly cwd?: string | URL | undefined
  /** Where its standard error goes; a callback gets text as it comes, a file is appended to. Default: `inherit`. */
  readonly stderr?: StderrTarget | undefined
  readonly shutdown?: ShutdownTimes | undefined
  /** How soon a server that keeps exiting is started again; `false`: at once. */
  readonly restart?: RestartOptions | false | undefined
  /** How long the server may take to show its era, in ms. Default: 5,000. */
  readonly probeTimeout?: number | undefined
  /** Bounds of what is running and waiting. */
  readonly limits?: Partial<DuplexLimits> | undefined
}
