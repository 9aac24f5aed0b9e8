/** What an import costs on the wire: programs bundled for the edge, minified and gzipped. */
import type { SizeCase } from '../case.ts'

export const bundle: SizeCase = {
  kind: 'size',
  name: 'bundle',
  says:
    'Programs that import so much, bundled with all they depend on for a worker or a browser, minified, `gzip -9`. ' +
    'Parts that a program loads when it needs them are left out.',
  entries: [
    { name: '@mcpx/protocol, all of it', code: `export * from '@mcpx/protocol'`, atMost: 18_000 },
    { name: 'only createDuplex', code: `export { createDuplex } from '@mcpx/protocol'` },
    { name: 'only decode and encode', code: `export { decode, encode } from '@mcpx/protocol'` },
    { name: 'only one schema', code: `export { Tool } from '@mcpx/protocol'` },
    {
      name: 'bare zod/mini, one object',
      code: `import { object, string } from 'zod/mini'; export const Tool = object({ name: string() })`,
    },
    { name: '@mcpx/protocol/memory', code: `export * from '@mcpx/protocol/memory'` },
    { name: '@mcpx/protocol/uri-template', code: `export * from '@mcpx/protocol/uri-template'` },
    { name: '@mcpx/protocol/json-schema', code: `export * from '@mcpx/protocol/json-schema'` },
    {
      name: 'client-http, a whole client',
      code: `import { connect } from '@mcpx/client'; import { http } from '@mcpx/transport-http/client'; export const client = (url) => connect(http(url))`,
      atMost: 20_000,
    },
    { name: 'only connect', code: `export { connect } from '@mcpx/client'` },
    { name: 'only http, for clients', code: `export { http } from '@mcpx/transport-http/client'` },
    { name: '@mcpx/sse, all of it', code: `export * from '@mcpx/sse'`, atMost: 3_000 },
    { name: 'only encodeEvent', code: `export { encodeEvent } from '@mcpx/sse'` },
  ],
}
