import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { connect } from '@mcpx/client'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { folderWith, mcpx, mcpxInTerminal } from '../cli.fixture.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

/** A folder below this package, where generated files can import ours. */
const place = fileURLToPath(new URL('../../.cache/openapi-test', import.meta.url))

beforeAll(async () => {
  await rm(place, { recursive: true, force: true })
  await mkdir(place, { recursive: true })
  return () => rm(place, { recursive: true, force: true })
})

const shop = {
  openapi: '3.1.0',
  info: { title: 'Shop API', version: '2.0.0' },
  servers: [{ url: 'https://{region}.shop.example/v1/', variables: { region: { default: 'eu' } } }],
  security: [{ key: [] }],
  paths: {
    '/items': {
      get: {
        operationId: 'items/list',
        summary: 'List items',
        tags: ['items'],
        security: [{}, { key: [] }],
        parameters: [
          { name: 'tag', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
          { name: 'ids', in: 'query', explode: false, schema: { type: 'array', items: { type: 'integer' } } },
          { name: 'filter', in: 'query', style: 'deepObject', schema: { $ref: '#/components/schemas/Filter' } },
          { name: 'page', in: 'query', schema: { type: 'object', properties: { $top: { type: 'integer' } } } },
          { name: 'where', in: 'query', content: { 'application/json': { schema: { type: 'object' } } } },
          { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
          { name: 'theme', in: 'cookie', schema: { type: 'string' } },
          { name: '$skip', in: 'query', schema: { type: ['integer', 'null'], minimum: 0 } },
        ],
      },
      post: {
        operationId: 'createItem',
        summary: 'Create an item.',
        description: 'It is for sale at once.',
        tags: ['items'],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Item' } } },
        },
      },
    },
    '/items/{id}': {
      parameters: [{ $ref: '#/components/parameters/id' }],
      get: { operationId: 'getItem', summary: 'Get an item' },
      put: {
        operationId: 'replaceItem',
        security: [{ basic: [] }],
        requestBody: { content: { 'application/merge-patch+json': { schema: { type: 'object' } } } },
      },
      delete: { operationId: 'deleteItem', deprecated: true, security: [{ token: [] }] },
    },
    '/forms': {
      post: {
        security: [],
        requestBody: {
          content: {
            'application/x-www-form-urlencoded': {
              schema: {
                type: 'object',
                required: ['name'],
                properties: {
                  name: { type: 'string' },
                  lines: { type: 'array', items: { type: 'object', properties: { price: { type: 'number' } } } },
                },
              },
            },
          },
        },
      },
    },
    '/uploads': {
      post: {
        operationId: 'upload',
        security: [{ inQuery: [], inCookie: [] }],
        requestBody: {
          content: {
            'multipart/form-data': { schema: { type: 'object', properties: { file: { type: 'string' } } } },
          },
        },
      },
    },
    '/notes': {
      post: {
        operationId: 'note',
        security: [{ tls: [] }],
        requestBody: { content: { 'text/plain': { schema: { type: 'string', maxLength: 20 } } } },
      },
    },
  },
  components: {
    parameters: { id: { name: 'id', in: 'path', required: true, schema: { type: 'string' } } },
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      basic: { type: 'http', scheme: 'basic' },
      token: { type: 'oauth2', flows: {} },
      inQuery: { type: 'apiKey', in: 'query', name: 'api_key' },
      inCookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
      tls: { type: 'mutualTLS' },
    },
    schemas: {
      Filter: { type: 'object', properties: { color: { enum: ['red', 'blue'] }, max: { type: 'number' } } },
      Base: { type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 1 } } },
      Item: {
        description: 'Something that is sold',
        allOf: [
          { $ref: '#/components/schemas/Base' },
          {
            type: 'object',
            additionalProperties: false,
            properties: {
              id: { type: 'string', readOnly: true },
              price: { type: 'number', exclusiveMinimum: 0 },
              size: { oneOf: [{ type: 'integer' }, { type: 'string', enum: ['S', 'M'] }] },
              parts: { type: 'array', items: { $ref: '#/components/schemas/Item' }, maxItems: 3 },
              sold: { type: ['string', 'null'], format: 'date', pattern: '^\\d' },
              extra: { type: 'object', additionalProperties: { type: 'boolean' } },
              kind: { const: 'goods' },
              since: { type: 'integer', default: 7, multipleOf: 7 },
            },
          },
        ],
      },
    },
  },
}

/** An API with one operation, which requires the credentials of a scheme. */
const securedBy = (name: string, scheme: object) => ({
  openapi: '3.1.0',
  servers: [{ url: 'http://127.0.0.1:9' }],
  security: [{ [name]: [] }],
  paths: { '/a': { get: { operationId: 'a' } } },
  components: { securitySchemes: { [name]: scheme } },
})

/** Compiles a file as a strict project does. Returns the output of the compiler. */
async function compile(file: string): Promise<string> {
  const compilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noPropertyAccessFromIndexSignature: false,
    noUnusedLocals: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    allowImportingTsExtensions: true,
    module: 'NodeNext',
    target: 'ES2023',
    lib: ['ES2023', 'ESNext.Disposable'],
    types: ['node'],
    customConditions: ['source'],
    skipLibCheck: true,
    noEmit: true,
  }
  await writeFile(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', place], { encoding: 'utf8' })
  // The sources of our packages are compiled, too. They need other libraries than a project that uses their declarations.
  return stdout.replace(/^packages\/(?:server|protocol)\/.*\n/gm, '')
}

/** Returns the diagnostics of the recommended lint rules. */
function lint(file: string): string {
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
  const args = [biome, 'lint', '--error-on-warnings', '--vcs-use-ignore-file=false', file]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: place, encoding: 'utf8' })
  return status === 0 ? '' : stdout + stderr
}

/** Generates a file below this package from a description. */
async function generate(spec: unknown, ...args: string[]) {
  const source = join(place, 'spec.json')
  await writeFile(source, JSON.stringify(spec))
  return mcpx(['openapi', source, ...args], { cwd: place })
}

/** Loads a generated server, and returns a function that calls its tools. */
async function load(file: string, env: Readonly<Record<string, string>>) {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { server } = (await import(join(place, file))) as { server: Parameters<typeof connect>[0] }
  const client = await connect(server)
  onTestFinished(() => client.close())
  return async (tool: string, args: object) => {
    const { isError = false, content } = await client.callTool(tool, { ...args })
    return { failed: isError, text: content.map((block) => (block.type === 'text' ? block.text : '')).join('') }
  }
}

interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Starts an API that responds with the request it has received, or as `respond` says. */
async function startApi(respond?: (url: string) => { status: number; headers?: Record<string, string>; body: string }) {
  const seen: SeenRequest[] = []
  const server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method = '', url = '', headers } = request
    const body = Buffer.concat(chunks).toString()
    seen.push({ method, url, headers: headers as Record<string, string>, body })
    const reply = respond?.(url) ?? { status: 200, body: JSON.stringify({ url }) }
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers }).end(reply.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}

/** Returns a URL at which nothing listens. */
async function closedApi() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return { url: `http://127.0.0.1:${port}` }
}

const operations = ['items_list', 'createItem', 'getItem', 'replaceItem', 'deleteItem', 'post_forms', 'upload', 'note']

describe('mcpx openapi', () => {
  it('lists the operations of a description', async () => {
    const { code, stdout, stderr } = await generate(shop)
    expect(code).toBe(0)
    expect(stdout).toContain('items_list\n  GET /items List items\n')
    expect(stdout).toContain('deleteItem\n  DELETE /items/{id} (deprecated)\n')
    expect(stderr).toContain('--operation <id>')
    const { operations: listed } = (await generate(shop, '--json')).json<{ operations: { name: string }[] }>()
    expect(listed.map(({ name }) => name)).toEqual(operations)
    expect(listed[0]).toEqual({
      name: 'items_list',
      method: 'get',
      path: '/items',
      summary: 'List items',
      tags: ['items'],
      deprecated: false,
    })
  })

  it('reads YAML and standard input, and loads URLs', async () => {
    const yaml = 'openapi: 3.0.3\npaths:\n  /a b:\n    get: {}\n'
    const file = { input: yaml, cwd: await folderWith({ 'a.yaml': yaml }) }
    expect((await mcpx(['openapi', 'a.yaml'], file)).stdout).toBe('get_a_b\n  GET /a b\n')
    expect((await mcpx(['openapi', '-'], file)).stdout).toBe('get_a_b\n  GET /a b\n')
    const api = await startApi(() => ({ status: 200, body: JSON.stringify({ ...shop, servers: [{ url: '../v2' }] }) }))
    const { stdout } = await mcpx([
      'openapi',
      `${api.url}/spec.json`,
      '--header',
      'X-Key: k1',
      '--operation',
      'GET /items/{id}',
    ])
    expect(api.seen[0]?.headers['x-key']).toBe('k1')
    expect(stdout).toContain(`?? '${api.url.replace('/v1', '/v2')}'`)
  }, 60_000)

  it('writes a file that compiles, passes lint, and calls the API', async () => {
    const { code, stdout, stderr } = await generate(shop, '--all', '--output', 'shop.ts')
    expect(stderr).toBe('The security scheme "tls" (mutualTLS) is not supported. Add its credentials by hand.\n')
    expect([code, stdout]).toEqual([
      0,
      'Wrote 8 tools to shop.ts. The file reads the environment: SHOP_BASE_URL, SHOP_KEY, SHOP_BASIC_USERNAME, SHOP_BASIC_PASSWORD, SHOP_TOKEN, SHOP_IN_QUERY, SHOP_IN_COOKIE.\nTry it: mcpx list shop.ts\n',
    ])
    const typed = `import { connect } from '@mcpx/client'
import { server } from './shop.ts'
const client = await connect<typeof server>(server)
// @ts-expect-error: the id is a string
await client.tools.getItem({ id: 1 })
await client.tools.createItem({ body: { name: 'Lamp', price: 2, size: 'S', kind: 'goods' } })
// @ts-expect-error: there is no such tool
await client.tools.none({})
`
    await writeFile(join(place, 'typed.ts'), typed)
    expect(await compile('typed.ts')).toBe('')
    expect(lint('shop.ts')).toBe('')
    expect(await readFile(join(place, 'shop.ts'), 'utf8')).toContain("?? 'https://eu.shop.example/v1/'")

    const list = await mcpx(['list', 'shop.ts', '--json'], { cwd: place })
    const { tools } = list.json<{
      tools: { name: string; description: string; annotations?: object; inputSchema: object }[]
    }>()
    expect(tools.map(({ name }) => name)).toEqual(operations)
    const toolOf = (name: string) => tools.find((tool) => tool.name === name)
    expect(toolOf('items_list')?.annotations).toEqual({ readOnlyHint: true })
    expect(toolOf('createItem')?.annotations).toBeUndefined()
    expect(toolOf('replaceItem')?.annotations).toEqual({ idempotentHint: true })
    expect(toolOf('deleteItem')?.annotations).toEqual({ destructiveHint: true, idempotentHint: true })
    expect(toolOf('deleteItem')?.description).toBe('Deprecated. DELETE /items/{id}')
    expect(toolOf('createItem')?.description).toBe('Create an item. It is for sale at once.')
    expect(JSON.stringify(toolOf('createItem')?.inputSchema)).toContain('"format":"date","pattern":"^\\\\d"')
    // Only the server sets members that are read-only, and the description of a recursive schema ends.
    expect(JSON.stringify(toolOf('createItem')?.inputSchema)).not.toContain('"id"')

    const api = await startApi()
    const env = {
      SHOP_BASE_URL: api.url,
      SHOP_KEY: 'k 1',
      SHOP_BASIC_USERNAME: 'me',
      SHOP_BASIC_PASSWORD: 'secret',
      SHOP_TOKEN: 't1',
      SHOP_IN_QUERY: 'q&1',
      SHOP_IN_COOKIE: 'c;1',
    }
    const call = await load('shop.ts', env)
    const callTool = async (tool: string, args: object, without?: keyof typeof env) => {
      if (without !== undefined) vi.stubEnv(without, undefined)
      const result = await call(tool, args)
      if (without !== undefined) vi.stubEnv(without, env[without])
      return { ...result, request: api.seen.at(-1) }
    }
    const listed = await callTool('items_list', {
      tag: ['a&b', 'c'],
      ids: [1, 2],
      filter: { color: 'red', max: 1.5 },
      page: { $top: 5 },
      where: { a: 'b' },
      'X-Trace': 'abc',
      theme: 'dark; x=1',
      skip: 3,
    })
    expect(JSON.parse(listed.text)).toEqual({ url: listed.request?.url })
    expect([...new URLSearchParams(listed.request?.url.split('?')[1])]).toEqual([
      ['tag', 'a&b'],
      ['tag', 'c'],
      ['ids', '1,2'],
      ['filter[color]', 'red'],
      ['filter[max]', '1.5'],
      ['$top', '5'],
      ['where', '{"a":"b"}'],
      ['$skip', '3'],
    ])
    expect(listed.request?.headers).toMatchObject({
      'x-trace': 'abc',
      cookie: 'theme=dark%3B%20x%3D1',
      'x-api-key': 'k 1',
    })

    const created = await callTool('createItem', { body: { name: 'Lamp', price: 2, parts: [{ name: 'Bulb' }] } })
    expect(created.request).toMatchObject({
      method: 'POST',
      url: '/v1/items',
      body: '{"name":"Lamp","price":2,"parts":[{"name":"Bulb"}]}',
    })
    expect(created.request?.headers['content-type']).toBe('application/json')
    expect((await callTool('createItem', { body: { name: '', price: 2 } })).failed).toBe(true)

    expect((await callTool('getItem', { id: 'a/b ?c' })).request?.url).toBe('/v1/items/a%2Fb%20%3Fc')
    const put = await callTool('replaceItem', { id: '1', body: { a: null } })
    expect(put.request).toMatchObject({
      body: '{"a":null}',
      headers: { 'content-type': 'application/merge-patch+json', authorization: `Basic ${btoa('me:secret')}` },
    })
    expect((await callTool('deleteItem', { id: '1' })).request?.headers.authorization).toBe('Bearer t1')
    const form = await callTool('post_forms', { body: { name: 'a b', lines: [{ price: 1 }] } })
    expect(form.request?.body).toBe('name=a+b&lines%5B0%5D%5Bprice%5D=1')
    expect(form.request?.headers['x-api-key']).toBeUndefined()
    const upload = await callTool('upload', { body: { file: 'content' } })
    expect(upload.request).toMatchObject({ url: '/v1/uploads?api_key=q%261', headers: { cookie: 'sid=c%3B1' } })
    expect(upload.request?.body).toContain('name="file"\r\n\r\ncontent')
    expect((await callTool('note', { body: 'Hello' })).request).toMatchObject({
      body: 'Hello',
      headers: { 'content-type': 'text/plain' },
    })

    // Without the variable the API is not called, and an operation that allows it is called without credentials.
    const count = api.seen.length
    const refused = await callTool('getItem', { id: '1' }, 'SHOP_KEY')
    expect(refused).toMatchObject({ failed: true, text: 'The environment variable SHOP_KEY of the server is not set' })
    expect(api.seen).toHaveLength(count)
    expect((await callTool('items_list', {}, 'SHOP_KEY')).request?.headers['x-api-key']).toBeUndefined()

    // Arguments cannot lead to another path, or add a header.
    for (const id of ['..', '.', ''])
      expect((await callTool('getItem', { id })).text).toContain('id: expected a part of the path')
    expect((await callTool('items_list', { 'X-Trace': 'a\r\nb: c' })).text).toContain(
      'X-Trace: expected the value of a header',
    )
  }, 120_000)

  it('returns errors of the API to the model, shortened', async () => {
    const spec = {
      openapi: '3.0.0',
      paths: Object.fromEntries(
        ['down', 'long', 'away', 'image', 'gone', 'large'].map((name) => [`/${name}`, { get: {} }]),
      ),
    }
    await generate(spec, '--all', '--output', 'errors.ts')
    const { url } = await startApi((path) => {
      if (path.endsWith('/down')) return { status: 503, body: '{"error":"down"}' }
      if (path.endsWith('/long')) return { status: 400, body: 'x'.repeat(5_000) }
      if (path.endsWith('/image')) return { status: 200, headers: { 'content-type': 'image/png' }, body: 'png' }
      if (path.endsWith('/gone')) return { status: 204, body: '' }
      if (path.endsWith('/large')) return { status: 200, body: 'y'.repeat(150_000) }
      return { status: 302, headers: { location: 'http://127.0.0.1:9/' }, body: '' }
    })
    const call = await load('errors.ts', { API_BASE_URL: url })
    const fails = async (tool: string) => {
      const { failed, text } = await call(tool, {})
      expect([tool, failed]).toEqual([tool, true])
      return text
    }
    expect(await fails('get_down')).toBe('GET /down: 503 Service Unavailable\n{"error":"down"}')
    expect(await fails('get_long')).toContain('xxx… (3000 more characters)')
    expect(await fails('get_away')).toBe('GET /away: 302 Found\nlocation: http://127.0.0.1:9/')
    expect(await call('get_image', {})).toEqual({ failed: false, text: '3 bytes of image/png' })
    expect((await call('get_gone', {})).text).toBe('GET /gone: 204')
    expect((await call('get_large', {})).text).toContain('yyy… (50000 more characters)')
    const callUnused = await load('errors.ts?unused', { API_BASE_URL: (await closedApi()).url })
    expect((await callUnused('get_down', {})).text).toBe('GET /down: the API did not respond (ECONNREFUSED)')
  }, 60_000)

  it('sends a token of its own if the description names no credentials', async () => {
    const image = { post: { requestBody: { content: { 'image/png': {} } } } }
    const spec = {
      openapi: '3.0.0',
      info: { title: "Shop's API" },
      paths: { '/a': { get: {} }, '/b': { get: {} }, '/c': image },
    }
    const { stderr, ...result } = await generate(spec, '--all', '--bearer', 'SHOP_TOKEN', '--json')
    expect(stderr).toBe('post_c was left out: POST /c: expected a body of JSON, a form or text, got image/png\n')
    const { code, tools, variables } = result.json<{ code: string; tools: string[]; variables: string[] }>()
    expect([tools, variables]).toEqual([
      ['get_a', 'get_b'],
      ['SHOP_BASE_URL', 'SHOP_TOKEN'],
    ])
    await writeFile(join(place, 'token.ts'), code)
    const api = await startApi()
    const env = { SHOP_BASE_URL: api.url, SHOP_TOKEN: 't1' }
    expect((await mcpx(['call', 'token.ts', 'get_b'], { cwd: place, env })).code).toBe(0)
    expect(api.seen[0]?.headers.authorization).toBe('Bearer t1')
    expect((await generate(spec, '--all', '--bearer', "a'")).stderr).toContain(
      '--bearer: expected the name of an environment',
    )
    // Without a URL in the description, the variable is needed when the server starts.
    expect((await mcpx(['list', 'token.ts'], { cwd: place })).stderr).toContain(
      'SHOP_BASE_URL of the server is not set',
    )
  }, 60_000)

  it('leaves out all operations whose schemas cannot be read', async () => {
    const body = (name: string) => ({
      requestBody: { content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } } },
    })
    const spec = {
      openapi: '3.0.0',
      paths: { '/a': { post: body('Bad') }, '/b': { post: body('Bad') }, '/c': { post: body('Good') } },
      components: { schemas: { Bad: { type: 'array', items: { $ref: 'other.yaml' } }, Good: { type: 'object' } } },
    }
    const { stderr, ...result } = await generate(spec, '--all', '--json')
    expect(stderr.match(/was left out: schemas: expected a reference within the file/g)).toHaveLength(2)
    const { tools, code } = result.json<{ tools: string[]; code: string }>()
    expect(tools).toEqual(['post_c'])
    expect(code).not.toContain('BadSchema')
  }, 60_000)

  it('writes text of a hostile description only as literals', async () => {
    const evil = `*/ process.exit(99) /* '); process.exit(99) // \`\${process.exit(99)}\` "\n\u2028process.exit(99)\\`
    const schema = {
      type: 'object',
      description: evil,
      required: [evil],
      properties: {
        [evil]: { type: 'string', enum: [evil, '__proto__'], description: evil, default: evil },
        __proto__: { type: 'string' },
        constructor: { type: 'string', pattern: evil, format: evil },
        __proto__x: { const: evil },
        self: { $ref: '#/components/schemas/evil~1~0%22' },
        number: { type: 'number', minimum: '0); process.exit(99)', maximum: Number.NaN },
      },
    }
    const operation = {
      operationId: evil,
      summary: evil,
      description: evil,
      tags: [evil],
      parameters: [
        { name: evil, in: 'path', schema: { $ref: '#/components/schemas/evil~1~0%22' } },
        {
          name: `...${evil}`,
          in: 'query',
          description: evil,
          schema: { type: 'array' },
          explode: false,
          style: 'deepObject',
        },
        { name: '__proto__', in: 'query', schema: {} },
        { name: evil, in: 'query', schema: { type: 'object' } },
      ],
      requestBody: { content: { [`application/json; ${evil}`]: { schema } } },
      security: [{ [evil]: [] }, {}],
    }
    const spec = {
      openapi: '3.0.0',
      info: { title: evil, version: evil },
      servers: [{ url: `https://evil.example/'+process.exit(99)+'` }],
      paths: {
        [`/{${evil.replace(/[{}]/g, '')}}/${evil}`]: { post: operation },
        '/loop': { get: { operationId: 'constructor' } },
      },
      components: {
        schemas: { 'evil/~"': schema },
        securitySchemes: { [evil]: { type: 'apiKey', in: 'query', name: evil } },
      },
    }
    const { code, stderr } = await generate(spec, '--all', '--output', 'evil.ts')
    expect([code, stderr]).toEqual([0, ''])
    expect(await compile('evil.ts')).toBe('')
    expect(lint('evil.ts')).toBe('')
    const list = await mcpx(['list', 'evil.ts', '--json'], { cwd: place })
    expect(list.code).toBe(0)
    expect(list.json<{ tools: { title: string }[] }>().tools.map(({ title }) => title)[1]).toBeUndefined()
  }, 60_000)

  it('sends nothing for names of Object.prototype that are left out', async () => {
    const names = ['constructor', 'toString', 'hasOwnProperty', '__proto__']
    const places = ['query', 'header', 'cookie']
    const parameters = places.flatMap((place) => names.map((name) => ({ name, in: place, schema: { type: 'string' } })))
    const spec = {
      openapi: '3.1.0',
      servers: [{ url: 'http://127.0.0.1:9' }],
      paths: { '/a': { get: { operationId: 'toString', parameters } } },
    }
    expect((await generate(spec, '--all', '--output', 'inherited.ts')).code).toBe(0)
    expect(await compile('inherited.ts')).toBe('')
    const { url, seen } = await startApi()
    const call = await load('inherited.ts', { API_BASE_URL: url })
    expect(await call('toString', {})).toMatchObject({ failed: false })
    expect(
      await call('toString', { query_constructor: 'a', header_toString: 'b', cookie_toString: 'c' }),
    ).toMatchObject({
      failed: false,
    })
    expect(JSON.stringify(seen)).not.toContain('native')
    expect(seen[0]).toMatchObject({ url: '/v1/a' })
    expect(seen[1]).toMatchObject({ url: '/v1/a?constructor=a', headers: { tostring: 'b', cookie: 'toString=c' } })
  }, 60_000)

  it('accepts bodies without optional members that have names of Object.prototype', async () => {
    const properties = { constructor: { type: 'string' }, toString: { type: 'string' }, name: { type: 'string' } }
    const schema = { type: 'object', properties, required: ['toString'] }
    const spec = {
      openapi: '3.1.0',
      servers: [{ url: 'http://127.0.0.1:9' }],
      paths: { '/a': { post: { operationId: 'a', requestBody: { content: { 'application/json': { schema } } } } } },
    }
    expect((await generate(spec, '--all', '--output', 'members.ts')).code).toBe(0)
    const { url, seen } = await startApi()
    const call = await load('members.ts', { API_BASE_URL: url })
    expect(await call('a', { body: { toString: 'x' } })).toMatchObject({ failed: false })
    expect(await call('a', { body: { toString: 'x', constructor: 'y' } })).toMatchObject({ failed: false })
    expect(seen.map(({ body }) => body)).toEqual(['{"toString":"x"}', '{"toString":"x","constructor":"y"}'])
  }, 60_000)

  it('writes no credentials of the URL of the description', async () => {
    const spec = { openapi: '3.1.0', servers: [{ url: '' }], paths: { '/a': { get: { operationId: 'a' } } } }
    const { url } = await startApi(() => ({ status: 200, body: JSON.stringify(spec) }))
    const { code, stdout } = await mcpx(['openapi', `${url}/spec.json?token=hush`, '--all'])
    expect([code, stdout]).toEqual([0, expect.stringContaining(`?? '${new URL(url).origin}/'`)])
    expect(stdout).not.toContain('hush')
    const refused = await mcpx(['openapi', 'https://ada:hush@127.0.0.1:9/spec.json', '--all'])
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('https://127.0.0.1:9: expected a URL')])
    expect(refused.stderr).not.toContain('hush')
  })

  it('sends a cookie of a scheme that is named cookie', async () => {
    const spec = securedBy('cookie', { type: 'apiKey', in: 'cookie', name: 'sid' })
    expect((await generate(spec, '--all', '--output', 'cookie.ts')).code).toBe(0)
    expect(await compile('cookie.ts')).toBe('')
    const { url, seen } = await startApi()
    const call = await load('cookie.ts', { API_BASE_URL: url, API_COOKIE: 'hush' })
    expect(await call('a', {})).toMatchObject({ failed: false })
    expect(seen[0]?.headers.cookie).toBe('sid=hush')
  }, 60_000)

  it('keeps credentials in the query of a redirect from the model', async () => {
    const spec = securedBy('key', { type: 'apiKey', in: 'query', name: 'key' })
    expect((await generate(spec, '--all', '--output', 'redirect.ts')).code).toBe(0)
    const { url } = await startApi((path) => ({
      status: 301,
      headers: { location: path.replace('/a', '/a/') },
      body: '',
    }))
    const call = await load('redirect.ts', { API_BASE_URL: url, API_KEY: 'hush' })
    expect(await call('a', {})).toEqual({ failed: true, text: 'GET /a: 301 Moved Permanently\nlocation: /v1/a/' })
  }, 60_000)

  it('leaves optional bodies of GET out, and refuses required ones', async () => {
    const get = (operationId: string, required: boolean) => ({
      get: { operationId, requestBody: { required, content: { 'application/json': { schema: { type: 'object' } } } } },
    })
    const spec = {
      openapi: '3.1.0',
      servers: [{ url: 'http://127.0.0.1:9' }],
      paths: { '/a': get('optional', false), '/b': get('required', true) },
    }
    const { code, stdout, stderr } = await generate(spec, '--all')
    expect([code, stderr]).toEqual([0, expect.stringContaining('required was left out: GET /b: expected no body')])
    expect(stdout).toContain("'optional'")
    expect(stdout).not.toContain('jsonBody')
  })

  it('accepts schemas that refer to each other, and very deep ones', async () => {
    let deep: object = { type: 'string' }
    for (let depth = 0; depth < 500; depth++) deep = { type: 'array', items: deep }
    const refer = (name: string) => ({ $ref: `#/components/schemas/${name}` })
    const schemas = {
      A: { type: 'object', properties: { b: refer('B'), list: { type: 'array', items: refer('A') } } },
      B: { anyOf: [refer('A'), refer('C'), { type: 'null' }] },
      C: { allOf: [refer('A'), { required: ['b'] }], oneOf: [refer('B'), { not: {} }] },
      D: refer('D'),
      URL: { type: 'string' },
      'url ': { type: 'string' },
    }
    const properties = { ...Object.fromEntries(Object.keys(schemas).map((name) => [name, refer(name)])), deep }
    const spec = {
      openapi: '3.1.0',
      servers: [{ url: 'http://127.0.0.1:9' }],
      paths: { '/a': { post: { requestBody: { content: { '*/*': { schema: { type: 'object', properties } } } } } } },
      components: { schemas },
    }
    const { code, stderr } = await generate(spec, '--all', '--output', 'cycles.ts')
    expect([code, stderr]).toEqual([0, ''])
    expect(await compile('cycles.ts')).toBe('')
    expect(lint('cycles.ts')).toBe('')
    expect((await mcpx(['list', 'cycles.ts'], { cwd: place })).stdout).toContain('post_a(')
    // Checking a value against a schema that only refers to itself must not end the server.
    const failed = await mcpx(['call', 'cycles.ts', 'post_a', '--args', '{"body":{"B":7}}'], { cwd: place })
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('the tool failed')])
  }, 60_000)

  it.each([
    ['swagger: "2.0"', 'expected OpenAPI 3.0 or 3.1, got Swagger 2.0\nConvert it'],
    ['openapi: 4.0.0', 'expected OpenAPI 3.0 or 3.1 in the member "openapi", got "4.0.0"'],
    ['- 1', 'expected an OpenAPI description, got a list'],
    ['openapi: 3.0.0', 'expected the paths of the API in the member "paths", got none'],
    ['openapi: 3.0.0\npaths: {}', 'expected operations in "paths", got none'],
    ['openapi: 3.0.0\npaths: [\n', 'is not valid YAML'],
    ['{ "openapi": "3.0.0" "a": 1 }', 'is not valid JSON'],
    [
      'openapi: 3.0.0\npaths:\n  /a:\n    $ref: other.yaml',
      'expected a reference within the file, got "other.yaml"\nCombine the files first',
    ],
    ['openapi: 3.0.0\npaths:\n  /a:\n    $ref: "#/none"', 'the reference "#/none" leads nowhere'],
    ['openapi: 3.0.0\npaths:\n  /a:\n    $ref: "#/paths/~1a"', 'references that lead in a circle'],
    [
      'openapi: 3.0.0\npaths:\n  /a:\n    get:\n      parameters: [3]',
      'No operation is supported\nget_a was left out: GET /a, parameters: expected an object, got 3',
    ],
    [
      'openapi: 3.0.0\npaths:\n  /a:\n    post:\n      requestBody:\n        content:\n          image/png: {}',
      'post_a was left out: POST /a: expected a body of JSON, a form or text, got image/png',
    ],
    [
      'openapi: 3.0.0\npaths:\n  /a:\n    get:\n      parameters: [{ name: "a b", in: header }]',
      'GET /a: expected the name of a header, got "a b"',
    ],
    [
      'a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d]',
      'is not valid YAML: Excessive alias count',
    ],
  ])('refuses %j', async (text, message) => {
    const cwd = await folderWith({ 'spec.yaml': text })
    const { code, stderr } = await mcpx(['openapi', 'spec.yaml', '--all'], { cwd })
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  })

  it('refuses wrong options, and never replaces a file without --force', async () => {
    await writeFile(join(place, 'mine.ts'), 'mine')
    const refused = await generate(shop, '--all', '--output', 'mine.ts')
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('mine.ts exists\nChoose another file, or add --force.'),
    ])
    expect(await readFile(join(place, 'mine.ts'), 'utf8')).toBe('mine')
    expect((await generate(shop, '--tag', 'items', '--output', 'mine.ts', '--force')).stdout).toContain('Wrote 2 tools')
    expect((await generate(shop, '--operation', 'getIten')).stderr).toContain(
      'expected an operation of the description, got "getIten"',
    )
    const image = { openapi: '3.0.0', paths: { '/c': { post: { requestBody: { content: { 'image/png': {} } } } } } }
    expect((await generate(image, '--operation', 'post_c')).stderr).toContain(
      'Leave the operation out, and write this tool by hand.',
    )
    expect((await generate(shop, '--tag', 'none')).stderr).toContain('--tag: expected one of items, got none')
    expect((await generate(shop, '--all', '--base-url', 'ftp://a')).stderr).toContain(
      '--base-url: expected an http or https URL',
    )
    expect((await mcpx(['openapi', 'none.yaml'])).stderr).toContain('none.yaml cannot be read: ENOENT')
    expect((await mcpx(['openapi', `${(await closedApi()).url}/a`])).code).toBe(3)
  }, 60_000)

  it('asks in a terminal which operations become tools', async () => {
    const cwd = await folderWith({ 'spec.json': JSON.stringify(shop) })
    const run = await mcpxInTerminal(['openapi', 'spec.json', '--output', 'chosen.ts'], { cwd })
    await run.waitFor('Which operations become tools?')
    run.type('getIt')
    await run.waitFor('getItem')
    run.type('\t')
    run.type('\r')
    expect(await run.exited).toBe(0)
    expect(run.text()).toContain('Wrote 1 tool to chosen.ts')
    expect(await readFile(join(cwd, 'chosen.ts'), 'utf8')).toContain("'getItem'")
  })
})
