import { afterEach, describe, expect, it, vi } from 'vitest'
import { mcp } from '../index.ts'
import { HandWritten, MODERN, modern } from './server.fixture.ts'

const app = mcp(new HandWritten({ 'tools/list': () => ({ tools: [], said: 'Grüße, 你好' }) }))

afterEach(() => void vi.unstubAllGlobals())

async function list(): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' }
  const init = { method: 'POST', headers, body: JSON.stringify(modern('tools/list')) }
  return app.fetch(new Request('http://localhost/mcp', init))
}

describe('a response on Node', () => {
  it('is a response of the web, with all of its text in one chunk', async () => {
    const response = await list()
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
    const chunks: Uint8Array[] = []
    for await (const chunk of response.body ?? []) chunks.push(chunk)
    expect(chunks).toHaveLength(1)
    expect(JSON.parse(new TextDecoder().decode(chunks[0]))).toMatchObject({ result: { said: 'Grüße, 你好' } })
  })

  it('can be read in each way, and twice as a copy', async () => {
    const said = { result: { said: 'Grüße, 你好' } }
    const response = await list()
    const copy = response.clone()
    expect(await response.json()).toMatchObject(said)
    expect(JSON.parse(await copy.text())).toMatchObject(said)
    expect((await (await list()).arrayBuffer()).byteLength).toBeGreaterThan(0)
  })

  it('has headers of its own: what is done to them shows in no other', async () => {
    const response = await list()
    response.headers.set('content-type', 'text/plain')
    response.headers.set('x-mine', '1')
    expect([...(await list()).headers]).toEqual([['content-type', 'application/json']])
  })

  it.each([{}, { platform: 'x' }, { userAgent: 'Mozilla/5.0' }])(
    'is one also where somebody has set a navigator such as %j, and another class of responses',
    async (navigator) => {
      const Native = Response
      const made: Response[] = []
      function Other(...given: ConstructorParameters<typeof Response>): Response {
        made.push(new Native(...given))
        return made.at(-1) as Response
      }
      vi.stubGlobal('navigator', navigator)
      vi.stubGlobal('Response', Other)
      const response = await list()
      expect(made).toContain(response)
      expect(await response.json()).toMatchObject({ result: { tools: [] } })
    },
  )

  it('may be thrown away unread', async () => {
    await (await list()).body?.cancel()
    expect((await list()).status).toBe(200)
  })

  it('says what else it says in its headers, and that there is no body where there is none', async () => {
    const other = await app.fetch(new Request('http://localhost/mcp', { method: 'PUT' }))
    expect([other.status, other.body]).toEqual([405, null])
    expect(other.headers.get('allow')).toContain('POST')
    const refused = await app.fetch(new Request('http://localhost/mcp', { method: 'POST', body: '{}' }))
    expect([refused.status, refused.headers.get('accept')]).toEqual([415, 'application/json'])
  })
})
