import Anthropic from '@anthropic-ai/sdk'
import { expect, test, vi } from 'vitest'
import { anthropicMessages, createToolset } from './index.ts'
import { connectZoo, PNG } from './zoo.fixture.ts'

test('the Anthropic client runs messages with tool uses', async () => {
  await using all = await connectZoo()
  const claude = anthropicMessages(await createToolset(all))
  const requests: { messages: { content: unknown }[]; tools: unknown[] }[] = []
  const fetch = async (_url: unknown, init?: { body?: unknown }) => {
    requests.push(JSON.parse(String(init?.body)))
    const uses = [
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 't1', name: 'photo', input: {} },
      { type: 'tool_use', id: 't2', name: 'fail', input: {} },
      { type: 'tool_use', id: 't3', name: 'links', input: {} },
    ]
    return Response.json({ type: 'message', role: 'assistant', content: requests.length === 1 ? uses : [] })
  }
  const anthropic = new Anthropic({
    apiKey: 'none',
    baseURL: 'http://127.0.0.1:9',
    fetch: fetch as typeof globalThis.fetch,
  })
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Show me the owl.' }]
  for (let turn = 0; turn < 2; turn += 1) {
    const { content } = await anthropic.messages.create({ model: 'm', max_tokens: 9, messages, tools: claude.tools })
    messages.push({ role: 'assistant', content }, { role: 'user', content: await claude.run(content) })
  }
  expect(requests[0]?.tools[0]).toEqual({
    name: 'feed',
    description: 'Feeds an animal',
    input_schema: expect.objectContaining({ type: 'object', required: ['animal'] }),
  })
  expect(requests[1]?.messages.at(-1)?.content).toEqual([
    {
      type: 'tool_result',
      tool_use_id: 't1',
      is_error: false,
      content: [
        { type: 'text', text: 'An owl:' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
        { type: 'text', text: '[audio: audio/wav, 6 bytes, not shown]' },
      ],
    },
    { type: 'tool_result', tool_use_id: 't2', is_error: true, content: [{ type: 'text', text: 'The owl is asleep.' }] },
    {
      type: 'tool_result',
      tool_use_id: 't3',
      is_error: false,
      content: [
        { type: 'text', text: '[resource map: zoo://map, text/plain]' },
        { type: 'text', text: '[resource zoo://hours]\n9 to 5' },
        {
          type: 'document',
          title: 'plan.pdf',
          source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
        },
        { type: 'text', text: '[all.zip: application/zip, 3 bytes, not shown]' },
      ],
    },
  ])
})

test('strict mode closes the schemas and removes what it does not support', async () => {
  await using all = await connectZoo()
  const { tools } = anthropicMessages(await createToolset(all), { strict: true })
  expect(tools[0]).toMatchObject({
    name: 'feed',
    strict: true,
    input_schema: {
      required: ['animal'],
      additionalProperties: false,
      properties: { portions: { type: 'integer', description: expect.stringContaining('minimum: 1') } },
    },
  })
})

test('`run` passes on progress, and rejects when it is aborted', async () => {
  await using all = await connectZoo()
  const claude = anthropicMessages(await createToolset(all))
  const abort = new AbortController()
  const onProgress = vi.fn(() => abort.abort(new Error('enough')))
  const uses = [{ type: 'tool_use', id: 't1', name: 'slow', input: {} }]
  await expect(claude.run(uses, { signal: abort.signal, onProgress })).rejects.toThrow('enough')
  expect(onProgress).toHaveBeenCalledWith({ progress: 1, total: 2, message: 'half' }, 'slow')
})
