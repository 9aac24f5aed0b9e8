/** A program with the official client: prints the page of the login, reads the URL of the callback, and prints the result of a tool. */

import { createInterface } from 'node:readline'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const [url = '', callback = ''] = process.argv.slice(2)
/** @type {Record<string, any>} */
const saved = {}
const authProvider = {
  redirectUrl: callback,
  clientMetadata: { client_name: 'Official client', redirect_uris: [callback], token_endpoint_auth_method: 'none' },
  clientInformation: () => saved.client,
  saveClientInformation: (client) => Object.assign(saved, { client }),
  tokens: () => saved.tokens,
  saveTokens: (tokens) => Object.assign(saved, { tokens }),
  saveCodeVerifier: (verifier) => Object.assign(saved, { verifier }),
  codeVerifier: () => saved.verifier,
  redirectToAuthorization: (page) => process.stdout.write(`${page.href}\n`),
}
const open = () => new StreamableHTTPClientTransport(new URL(url), { authProvider })

const first = open()
await new Client({ name: 'official', version: '1.0.0' }).connect(first).catch((error) => {
  if (!(error instanceof UnauthorizedError)) throw error
})
for await (const line of createInterface({ input: process.stdin })) {
  await first.finishAuth(new URL(line).searchParams.get('code') ?? '')
  break
}
const client = new Client({ name: 'official', version: '1.0.0' })
await client.connect(open())
const { structuredContent } = await client.callTool({ name: 'whoami' })
process.stdout.write(`${JSON.stringify(structuredContent)}\n`)
await client.close()
