/** Logs the user in at a server that requires it, and stores the tokens for later commands. */

import { join } from 'node:path'
import { type Login, oauth } from '@mcpx/auth/client'
import { fileStore, loopbackRedirect } from '@mcpx/auth/node'
import type { Terminal } from '../output/terminal.ts'
import { mcpxFolder } from './hosts.ts'

/** Returns the path of the file with the tokens of all servers. */
export function tokenFile(terminal: Terminal): string {
  return join(mcpxFolder(terminal), 'tokens.json')
}

/**
 * Creates the `auth` option of `http`: it uses the tokens of earlier logins, refreshes them, and opens the browser for a new
 * login.
 *
 * @param login whether a browser may be opened. Without a terminal, no browser is opened
 */
export function createAuth(terminal: Terminal, login: boolean): Login {
  const redirect = login && terminal.isInteractive ? loopbackRedirect() : undefined
  return oauth({ redirect, store: fileStore(tokenFile(terminal)), clientMetadata: { client_name: 'mcpx' } })
}
