import type { Message, Refusal } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { createEndpoint } from '../endpoint.ts'
import { HttpAnswer } from '../http-answer.ts'
import { HandWritten, modern, request } from '../server.fixture.ts'
import { answerWeb, onWeb, webRequest } from '../web.ts'
import type { SessionEra } from './era.ts'
import { createLaterEra, type LoadEra } from './later-era.ts'
import { createModernEras } from './modern-eras.ts'

/** An endpoint with an older era that says what it got, and how that is loaded. */
function withEra(load: (create: () => SessionEra) => ReturnType<LoadEra>) {
  const got: string[] = []
  const reports: string[] = []
  const name = (arrived: Message | (Message | Refusal)[]) => ('method' in arrived ? arrived.method : 'a list')
  const answer = (text: string) => {
    got.push(text)
    return new HttpAnswer(200, {}, text)
  }
  const create = (): SessionEra => {
    got.push('made')
    return {
      post: (arrived) => answer(name(arrived)),
      other: async (inbound) => answer(inbound.request.method),
      endFeeds: () => void got.push('feeds'),
      close: () => void got.push('closed'),
    }
  }
  const options = { report: (problem: Error) => void reports.push(problem.message) }
  const endpoint = createEndpoint(new HandWritten({ 'tools/list': () => ({ tools: [] }) }), options, (host) =>
    createModernEras(
      host,
      createLaterEra(host, () => load(create)),
    ),
  )
  const send = async (init: RequestInit): Promise<[number, string]> => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const of = new Request('http://localhost/', { ...init, headers: { ...headers, ...(init.headers as object) } })
    const response = await answerWeb(endpoint, onWeb)(webRequest(of, undefined))
    return [response.status, await response.text()]
  }
  const post = (message: Message, headers = {}) => send({ method: 'POST', body: JSON.stringify(message), headers })
  return { endpoint, got, reports, send, post }
}

const at = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }

describe('an older era', () => {
  it('is not loaded for requests of the modern era, nor at the end', async () => {
    let loads = 0
    const { endpoint, post, got } = withEra(async (create) => {
      loads += 1
      return create
    })
    expect((await post(modern('tools/list'), at))[0]).toBe(200)
    endpoint.close()
    expect({ loads, got }).toEqual({ loads: 0, got: [] })
  })

  it('is made once, and answers in turn what came while it was loaded', async () => {
    const { post, send, got } = withEra(async (create) => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      return create
    })
    const answers = await Promise.all([post(request('initialize')), send({ method: 'GET' }), post(request('ping'))])
    expect(answers.map(([, text]) => text)).toEqual(['initialize', 'GET', 'ping'])
    expect(got.filter((each) => each === 'made')).toHaveLength(1)
    expect(got[0]).toBe('made')
    expect(await post(request('tools/call'))).toEqual([200, 'tools/call'])
  })

  it('is loaded again after it could not be', async () => {
    let loads = 0
    const { post, reports } = withEra(async (create) => {
      loads += 1
      if (loads === 1) throw new Error('The disk was busy')
      return create
    })
    expect((await post(request('initialize')))[0]).toBe(500)
    expect(reports).toEqual(['The disk was busy'])
    expect(await post(request('initialize'))).toEqual([200, 'initialize'])
  })

  it('answers nothing when all is closed while it was loaded', async () => {
    let finish = () => {}
    const loading = new Promise<void>((resolve) => {
      finish = resolve
    })
    const { endpoint, post, send, got } = withEra(async (create) => {
      await loading
      return create
    })
    const answers = [post(request('initialize')), send({ method: 'GET' })]
    await new Promise((done) => setTimeout(done, 5))
    endpoint.close()
    finish()
    expect((await Promise.all(answers)).map(([status]) => status)).toEqual([503, 503])
    expect(got).toEqual([])
  })

  it('is told of the end once it is there', async () => {
    const { endpoint, post, got } = withEra(async (create) => create)
    await post(request('initialize'))
    await endpoint.drain(10)
    expect(got).toEqual(['made', 'initialize', 'feeds', 'closed'])
  })
})
