import { connect } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import { describe, expect, it } from 'vitest'
import { contentSecurityPolicy, permissionsPolicy, readView, uiOf, type ViewsConnection, visibleTo } from './client.ts'
import { apps, ui } from './index.ts'

const HTML = '<!doctype html><p>Grüße</p>'
const MIME_TYPE = 'text/html;profile=mcp-app'
const tool = { name: 'weather', _meta: { ui: { resourceUri: 'ui://weather' } } }

/** A server of which each response may be invalid. */
function hostile(content: object, entries: object[] = []): ViewsConnection {
  return {
    readResource: async (uri) => ({ contents: [{ uri, mimeType: MIME_TYPE, text: HTML, ...content }] }),
    async *listResources() {
      yield* entries as never[]
    },
  }
}

it.each(['modern', 'legacy'] as const)('a view of a server is read in the %s era', async (era) => {
  const csp = { connectDomains: ['wss://live.example.com'], frameDomains: ['https://maps.example.com'] }
  const view = ui('weather', {
    html: HTML,
    csp,
    permissions: { camera: true, clipboardWrite: true },
    domain: 'a.example',
  })
  const server = createServer({ name: 'a', version: '1' }, { extensions: [apps()] })
  await using client = await connect(
    server.tool('weather', { ui: view }, () => 'It rains.'),
    { era },
  )
  const [listed] = await client.listTools().all()
  const loaded = await readView(client, listed as never)
  expect(loaded).toEqual({
    uri: 'ui://weather',
    html: HTML,
    csp,
    permissions: ['camera', 'clipboardWrite'],
    domain: 'a.example',
    prefersBorder: undefined,
  })
  expect(permissionsPolicy(loaded.permissions)).toBe('camera; clipboard-write')
})

describe('readView', () => {
  it('uses the entry of the list for a content without metadata', async () => {
    const entries = [{ uri: 'ui://weather', name: 'a', _meta: { ui: { prefersBorder: true } } }]
    expect(await readView(hostile({}, entries), tool)).toMatchObject({ prefersBorder: true })
    expect(await readView(hostile({ _meta: { ui: {} } }, entries), tool)).toMatchObject({ prefersBorder: undefined })
  })

  it('decodes Base64', async () => {
    const read = (blob: string) =>
      readView(
        { ...hostile({}), readResource: async (uri) => ({ contents: [{ uri, mimeType: MIME_TYPE, blob }] }) },
        tool,
      )
    expect(await read(Buffer.from(HTML).toString('base64'))).toMatchObject({ html: HTML })
    await expect(read('%')).rejects.toThrow('blob: expected the Base64 of UTF-8 text')
  })

  it('ignores members of prototypes and unknown members', async () => {
    const ui = JSON.parse('{"__proto__":{"prefersBorder":true},"permissions":{"usb":{},"camera":true},"future":1}')
    expect(await readView(hostile({ _meta: { ui } }), tool)).toMatchObject({ permissions: [], csp: {} })
  })

  it.each<[string, object, string]>([
    ['another MIME type', { mimeType: 'text/html' }, 'mimeType: expected "text/html;profile=mcp-app", got "text/html"'],
    ['no MIME type', { mimeType: undefined }, 'got nothing'],
    ['an empty document', { text: '' }, 'The view of the tool "weather": expected an HTML document, got an empty'],
    [
      'a large document',
      { text: 'x'.repeat(11_000_000) },
      'expected at most 10485760 characters (10 MiB), got 11000000',
    ],
    ['metadata as a list', { _meta: { ui: [] } }, '_meta.ui: expected an object, got'],
    [
      'a script as an origin',
      { _meta: { ui: { csp: { connectDomains: ['javascript:alert(1)'] } } } },
      '_meta.ui, csp, connectDomains[0]: expected an origin such as "https://api.example.com" without a path',
    ],
    [
      'too many origins',
      { _meta: { ui: { csp: { frameDomains: Array(101).fill('https://a.example') } } } },
      'csp, frameDomains: expected at most 100 origins, got 101',
    ],
  ])('refuses %s', async (_, content, message) => {
    await expect(readView(hostile(content), tool)).rejects.toThrow(message)
  })

  it.each(['http://evil.example/', 'https://evil.example', 'file:///etc/passwd', 'javascript:alert(1)', 'ui://a b'])(
    'refuses the URI %s without reading it',
    async (resourceUri) => {
      const client = { ...hostile({}), readResource: () => expect.fail('was read') }
      await expect(readView(client, { name: 'a', _meta: { ui: { resourceUri } } })).rejects.toThrow(
        `The view of the tool "a": expected a URI that begins with ui://, got "${resourceUri}"`,
      )
    },
  )

  it('refuses a tool without a view', async () => {
    await expect(readView(hostile({}), { name: 'a' })).rejects.toMatchObject({ reason: 'not-found' })
  })
})

describe('the tools of a party', () => {
  const tools = [
    { name: 'both' },
    { name: 'flat', _meta: { 'ui/resourceUri': 'ui://old' } },
    { name: 'app', _meta: { ui: { visibility: ['app'] } } },
    { name: 'model', _meta: { ui: { visibility: ['model', 'future'] } } },
    { name: 'invalid', _meta: { ui: { visibility: 'app' } } },
  ]

  it('are those of their visibility; an invalid one is for nobody', () => {
    expect(visibleTo(tools, 'model').map(({ name }) => name)).toEqual(['both', 'flat', 'model'])
    expect(visibleTo(tools, 'app').map(({ name }) => name)).toEqual(['both', 'flat', 'app'])
  })

  it('have views in both forms', () => {
    expect(tools.map((each) => uiOf(each).resourceUri)).toEqual([
      undefined,
      'ui://old',
      undefined,
      undefined,
      undefined,
    ])
  })
})

describe('the content security policy', () => {
  it('allows only the document by default', () => {
    expect(contentSecurityPolicy({ csp: {} })).toBe(
      "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
        "media-src 'self' data:; object-src 'none'; connect-src 'none'; frame-src 'none'; base-uri 'self'; " +
        "form-action 'none'",
    )
  })

  it('allows the declared origins', () => {
    const csp = { connectDomains: ['https://a.example'], resourceDomains: ['https://b.example'], baseUriDomains: [] }
    const policy = contentSecurityPolicy({ csp })
    expect(policy).toContain('connect-src https://a.example;')
    expect(policy).toContain("script-src 'self' 'unsafe-inline' https://b.example;")
    expect(policy).toContain("font-src 'self' data: https://b.example;")
  })
})
