/** The protected server and the scopes of its tools. It does not depend on the issuer of the tokens. */
import { createServer } from '@mcpx/server'
import { z } from 'zod'

const notes = new Map<string, string>()

export const server = createServer({ name: 'diary', version: '1.0.0' })
  .tool('whoami', { output: z.object({ subject: z.string(), scopes: z.array(z.string()) }) }, (_, { auth }) => ({
    subject: auth?.subject ?? 'nobody',
    scopes: [...(auth?.scopes ?? [])],
  }))
  // A client without the scope gets an error that names the scope. The client obtains the scope and retries the call.
  .tool('write', { input: z.object({ text: z.string() }), scopes: ['notes:write'] }, ({ text }, { auth }) => {
    notes.set(auth?.subject ?? '', text)
    return 'Written.'
  })

export type Diary = typeof server
