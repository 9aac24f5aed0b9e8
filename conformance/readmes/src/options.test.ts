import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { pathOf } from './documents.ts'
import { optionsOf, rowsOf } from './options.ts'

const documented = [
  ['server', 'server.ts', 'ServerOptions'],
  ['client', 'options.ts', 'ClientOptions'],
  ['transport-http', 'server/options.ts', 'EndpointOptions'],
  ['transport-http', 'server/options.ts', 'SessionOptions'],
  ['transport-http', 'server/options.ts', 'HttpLimits'],
  ['transport-http', 'node/serve-http.ts', 'ServeHttpOptions'],
  ['transport-http', 'client/options.ts', 'HttpOptions'],
  ['transport-http', 'client/options.ts', 'ReconnectOptions'],
  ['transport-stdio', 'serve-stdio.ts', 'ServeStdioOptions'],
  ['transport-stdio', 'spawn-options.ts', 'SpawnOptions'],
  ['auth', 'resource-server/options.ts', 'BearerOptions'],
  ['auth', 'client/create-auth.ts', 'CommonOptions'],
  ['auth', 'client/oauth.ts', 'OAuthOptions'],
  ['auth', 'node/loopback-redirect.ts', 'LoopbackRedirectOptions'],
  ['auth', 'node/file-store.ts', 'FileStoreOptions'],
  ['auth', 'client/browser-redirect.ts', 'PopupRedirectOptions'],
  ['auth', 'client/local-storage-store.ts', 'LocalStorageStoreOptions'],
  ['auth', 'dev-server/options.ts', 'DevAuthorizationServerOptions'],
  ['server', 'tools.ts', 'ToolOptions'],
  ['server', 'resources.ts', 'ResourceOptions'],
  ['server', 'prompts.ts', 'PromptOptions'],
  ['server', 'named-items.ts', 'VisibilityOptions'],
  ['server', 'middleware/approve.ts', 'ApproveOptions'],
  ['server', 'middleware/audit.ts', 'AuditOptions'],
  ['server', 'middleware/rate-limit.ts', 'RateLimitOptions'],
  ['sse', 'decode.ts', 'DecoderOptions'],
  ['protocol', 'json-schema/limits.ts', 'JsonSchemaLimits'],
  ['protocol', 'jsonrpc/codec.ts', 'CodecLimits'],
] as const

/** Said in sentences, as there are one or two of each. */
const mentioned = [
  ['auth', 'resource-server/api-keys.ts', 'ApiKeysOptions'],
  ['auth', 'resource-server/introspection.ts', 'IntrospectionOptions'],
  ['auth', 'resource-server/possession.ts', 'DpopOptions'],
  ['auth', 'resource-server/nonces.ts', 'NonceOptions'],
  ['auth', 'resource-server/replay-store.ts', 'MemoryReplayStoreOptions'],
  ['auth', 'client/machine-flows.ts', 'CredentialOptions'],
  ['auth', 'client/machine-flows.ts', 'WorkloadOptions'],
  ['auth', 'client/enterprise.ts', 'EnterpriseOptions'],
  ['client', 'options.ts', 'CallOptions'],
  ['client', 'options.ts', 'RequestCallOptions'],
  ['client', 'proxy.ts', 'ProxyOptions'],
  ['server', 'middleware/rate-limit.ts', 'MemoryCounterStoreOptions'],
  ['transport-stdio', 'back-off.ts', 'RestartOptions'],
  ['transport-stdio', 'spawn-options.ts', 'ShutdownTimes'],
  ['protocol', 'uri-template.ts', 'UriTemplateOptions'],
  ['protocol', 'json-schema.ts', 'JsonSchemaValidatorOptions'],
] as const

describe.each(mentioned)('the README of %s, on %s: %s', (name, file, interfaceName) => {
  it('has a word on each option', () => {
    const readme = readFileSync(pathOf(`packages/${name}/README.md`), 'utf8')
    const options = optionsOf(`packages/${name}/src/${file}`, interfaceName)
    expect(options.length).toBeGreaterThan(0)
    const code = [...readme.matchAll(/^```.*?^```|`[^`\n]+`/gms)].map(([text]) => text).join(' ')
    expect(options.filter((each) => !new RegExp(`\\b${each.name}\\b`).test(code)).map((each) => each.name)).toEqual([])
  })
})

describe.each(documented)('the README of %s, on %s: %s', (name, file, interfaceName) => {
  const readme = readFileSync(pathOf(`packages/${name}/README.md`), 'utf8')
  const options = optionsOf(`packages/${name}/src/${file}`, interfaceName)

  it('has a line for each option', () => {
    expect(options.length).toBeGreaterThan(0)
    expect(options.filter((each) => rowsOf(readme, each.name).length === 0).map((each) => each.name)).toEqual([])
  })

  it('names the defaults that the sources name', () => {
    const stale = options.filter(
      ({ name, number }) => number !== undefined && !rowsOf(readme, name).some((row) => row.includes(number)),
    )
    expect(stale.map(({ name, number }) => `${name}: ${number}`)).toEqual([])
  })
})
