import { connect } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import { describe, expect, it, vi } from 'vitest'
import { apps as declareApps, uiOf } from './client.ts'
import { type AppsOptions, apps, supportsUi, type UiOptions, ui, type ViewSource } from './index.ts'

const info = { name: 'desk', version: '1.0.0' }
const HTML = '<!doctype html><title>Weather</title><p>Loading</p>'
const MIME_TYPE = 'text/html;profile=mcp-app'
const view = ui('weather', {
  html: HTML,
  title: 'Weather',
  csp: { connectDomains: ['https://api.example.com'], resourceDomains: ['https://*.example.com:8443'] },
  permissions: { geolocation: true, camera: false },
  prefersBorder: true,
})
const META = {
  csp: { connectDomains: ['https://api.example.com'], resourceDomains: ['https://*.example.com:8443'] },
  permissions: { geolocation: {} },
  prefersBorder: true,
}

function create(options: AppsOptions = {}, onError = (error: unknown) => void expect.fail(String(error))) {
  return createServer(info, { extensions: [apps(options)], onError })
}

describe.each(['modern', 'legacy'] as const)('a view in the %s era', (era) => {
  it('is on its tool, in the list of resources and on its content', async () => {
    const server = create().tool('weather', { ui: view, _meta: { 'com.example/a': 1 } }, () => 'It rains.')
    await using client = await connect(server, { era })
    expect((await client.listTools().all())[0]?._meta).toEqual({
      'com.example/a': 1,
      ui: { resourceUri: 'ui://weather' },
    })
    expect(await client.listResources().all()).toEqual([
      { uri: 'ui://weather', name: 'weather', title: 'Weather', mimeType: MIME_TYPE, _meta: { ui: META } },
    ])
    expect(await client.readResource('ui://weather')).toMatchObject({
      contents: [{ uri: 'ui://weather', mimeType: MIME_TYPE, text: HTML, _meta: { ui: META } }],
    })
  })

  it('is declared by clients only', async () => {
    const server = create().tool('see', {}, (_, ctx) => String(supportsUi(ctx)))
    await using client = await connect(server, { era, extensions: [declareApps()] })
    await using other = await connect(server, { era })
    const settings = { mimeTypes: ['text/html'] }
    await using old = await connect(server, { era, extensions: [{ id: 'io.modelcontextprotocol/ui', settings }] })
    expect(client.server.capabilities.extensions).toBeUndefined()
    const texts = [client, other, old].map(async (each) => (await each.callTool('see')).content)
    expect((await Promise.all(texts)).flat()).toMatchObject([{ text: 'true' }, { text: 'false' }, { text: 'false' }])
  })

  it('exists for the callers of its tools', async () => {
    let isShown = false
    const server = create()
      .tool('weather', { ui: view, visible: () => isShown }, () => 'It rains.')
      .tool('other', {}, () => 'Other')
    await using client = await connect(server, { era })
    expect(await client.listResources().all()).toEqual([])
    await expect(client.readResource('ui://weather')).rejects.toThrow(/not found|Unknown resource/i)
    isShown = true
    expect(await client.listResources().all()).toHaveLength(1)
    server.removeTool('weather')
    await expect(client.readResource('ui://weather')).rejects.toThrow(/not found|Unknown resource/i)
  })

  it('is served by a server that mounts its own', async () => {
    const inner = create().tool('weather', { ui: view }, () => 'It rains.')
    await using client = await connect(createServer(info).mount('sky', inner), { era })
    const [tool] = await client.listTools().all()
    const { resourceUri: uri = '' } = uiOf(tool ?? {})
    expect(await client.readResource(uri)).toMatchObject({ contents: [{ uri, text: HTML }] })
  })

  it('that has changed is read again, and clients are notified', async () => {
    let html = HTML
    let change = () => {}
    const stop = vi.fn()
    const source: ViewSource = {
      read: () => html,
      watch(onChange) {
        change = onChange
        return stop
      },
    }
    const server = create().tool('weather', { ui: ui('live', { html: source }) }, () => 'It rains.')
    await using client = await connect(server, { era })
    const stream = client.listen({ resourcesListChanged: true, resourceSubscriptions: ['ui://live'] })
    const changes = stream[Symbol.asyncIterator]()
    const first = changes.next()
    await stream.ready
    html = '<p>New</p>'
    change()
    const kinds = [(await first).value, (await changes.next()).value]
    expect(kinds).toMatchObject([{ kind: 'resource', uri: 'ui://live' }, { kind: 'resources' }])
    expect(await client.readResource('ui://live')).toMatchObject({ contents: [{ text: html }] })
    server.close()
    expect(stop).toHaveBeenCalledOnce()
  })
})

describe('a tool with a view', () => {
  it('has a visibility, and the deprecated form on request', async () => {
    const server = create({ flatMeta: true })
      .tool('save', { ui: { view, visibility: ['app'] } }, () => 'Saved.')
      .tool('refresh', { ui: { visibility: ['app'] } }, () => 'Done.')
    await using client = await connect(server)
    expect((await client.listTools().all()).map(({ _meta }) => _meta)).toEqual([
      { ui: { resourceUri: 'ui://weather', visibility: ['app'] }, 'ui/resourceUri': 'ui://weather' },
      { ui: { visibility: ['app'] } },
    ])
  })

  it('is reported once when it returns no content', async () => {
    const onWarning = vi.fn<(warning: Error) => void>()
    const server = create({ onWarning })
      .tool('weather', { ui: view }, () => {})
      .tool('forecast', { ui: view }, () => 'It rains.')
      .tool('hidden', { ui: { view, visibility: ['app'] } }, () => {})
      .tool('plain', {}, () => {})
    await using client = await connect(server)
    for (const name of ['weather', 'weather', 'forecast', 'hidden', 'plain']) await client.callTool(name)
    expect(onWarning.mock.calls.map(([{ message }]) => message)).toEqual([
      'Tool "weather": has the view "weather" and returned no content; return a text for the model and for hosts without views',
    ])
  })

  it('is replaced together with its view', async () => {
    const server = create().tool('weather', { ui: ui('weather', { html: HTML }) }, () => 'Old')
    server.tool('weather', { ui: ui('weather', { html: '<p>New</p>' }), replace: true }, () => 'New')
    await using client = await connect(server)
    expect(await client.readResource('ui://weather')).toMatchObject({ contents: [{ text: '<p>New</p>' }] })
  })

  it.each<[string, object, string]>([
    ['no view', { ui: 'ui://weather' }, 'ui: expected a view that ui() has created, got string'],
    ['no members', { ui: {} }, 'ui: expected a view, a visibility or both, got none of them'],
    [
      'an unknown member',
      { ui: { veiw: view } },
      'ui: expected a view, or { view, visibility }, got the member "veiw"',
    ],
    ['an unknown party', { ui: { view, visibility: ['user'] } }, 'ui: visibility: expected ["model"], ["app"] or both'],
    ['_meta.ui as well', { ui: view, _meta: { ui: {} } }, 'the option _meta has a view, too; remove `ui` from _meta'],
    [
      'another view of the name',
      { ui: ui('weather', { html: '<p>2</p>' }) },
      'Tool "second", ui: the view "weather" differs from the view with this name of the tool "first"; create it once',
    ],
  ])('is refused with %s', (_, options, message) => {
    const server = create().tool('first', { ui: view }, () => '')
    expect(() => server.tool('second', options, () => '')).toThrow(message)
  })

  it('needs the extension', () => {
    expect(() => createServer(info).tool('weather', { ui: view }, () => '')).toThrow(
      'pass apps() of @mcpx/apps to createServer',
    )
  })
})

describe('ui', () => {
  it.each<[string, string, object, string]>([
    ['a name with spaces', 'my view', {}, 'ui: expected a name such as "weather" or "shop/cart"'],
    ['a name with dots', 'a/../b', {}, 'got "a/../b"'],
    ['no document', 'a', { html: ' ' }, 'ui "a", html: expected an HTML document, got an empty string'],
    ['another document', 'a', { html: 5 }, 'ui "a", html: expected a string with an HTML document, got number'],
    ['an endless document', 'a', { html: 'x'.repeat(11_000_000) }, 'expected at most 10485760 characters (10 MiB)'],
    ['an unknown option', 'a', { scp: {} }, 'ui "a": there is no option "scp"; did you mean "csp"?'],
    ['an unknown list', 'a', { csp: { connectDomain: [] } }, 'did you mean "connectDomains"?'],
    ['an unknown permission', 'a', { permissions: { cam: true } }, 'ui "a", permissions: there is no option "cam"'],
    ['a permission as text', 'a', { permissions: { camera: 'yes' } }, 'permissions, camera: expected a boolean'],
    ['a domain with spaces', 'a', { domain: 'a b' }, 'ui "a", domain: expected a domain name, got "a b"'],
    ['a border as text', 'a', { prefersBorder: 'no' }, 'ui "a", prefersBorder: expected a boolean, got string'],
    ['one origin', 'a', { csp: { connectDomains: 'https://a.b' } }, 'connectDomains: expected an array of origins'],
    ...["'unsafe-eval'", 'https://a.b/c', 'javascript:alert(1)', '*', 'https://a.b; script-src *', 'data:', 'a.b'].map(
      (origin): [string, string, object, string] => [
        `the origin ${origin}`,
        'a',
        { csp: { resourceDomains: ['https://ok.example', origin] } },
        `ui "a", csp, resourceDomains[1]: expected an origin such as "https://api.example.com" without a path, got "${origin}"`,
      ],
    ),
  ])('refuses %s', (_, name, options, message) => {
    expect(() => ui(name, { html: HTML, ...options } as UiOptions)).toThrow(message)
  })

  it('refuses the document of a function when it is read', async () => {
    const onError = vi.fn()
    const server = create({}, onError).tool('a', { ui: ui('a', { html: async () => '' }) }, () => '')
    await using client = await connect(server)
    await expect(client.readResource('ui://a')).rejects.toThrow('Internal error')
    expect(String(onError.mock.calls[0]?.[0])).toMatch('ui "a", html: expected an HTML document, got an empty string')
  })
})
