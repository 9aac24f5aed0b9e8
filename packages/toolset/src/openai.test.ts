import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { createToolset, openaiChat, openaiResponses } from './index.ts'
import { connectZoo, PNG } from './zoo.fixture.ts'

/** An OpenAI client whose requests are answered by a function. */
function fakeOpenAI(
  answer: (request: { messages?: unknown[]; input?: unknown[]; tools: unknown[] }) => object,
): OpenAI {
  const fetch = async (_url: unknown, init?: { body?: unknown }) =>
    Response.json(answer(JSON.parse(String(init?.body))))
  return new OpenAI({ apiKey: 'none', baseURL: 'http://127.0.0.1:9/v1', fetch: fetch as typeof globalThis.fetch })
}

test('the OpenAI client runs a chat with tool calls', async () => {
  await using all = await connectZoo()
  const chat = openaiChat(await createToolset(all))
  const requests: { messages?: unknown[]; tools: unknown[] }[] = []
  const openai = fakeOpenAI((request) => {
    requests.push(request)
    const feed = { name: 'feed', arguments: '{"animal":"owl"}' }
    const calls = [
      { id: 'c1', type: 'function', function: feed },
      { id: 'c2', type: 'function', function: { name: 'photo', arguments: '' } },
      { id: 'c3', type: 'function', function: { name: 'fail', arguments: '{}' } },
    ]
    const message =
      requests.length === 1 ? { role: 'assistant', tool_calls: calls } : { role: 'assistant', content: 'ok' }
    return { choices: [{ index: 0, message }] }
  })
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Feed the owl.' }]
  for (let turn = 0; turn < 2; turn += 1) {
    const { choices } = await openai.chat.completions.create({ model: 'm', messages, tools: chat.tools })
    const message = choices[0]?.message
    if (message === undefined) throw new Error('no message')
    messages.push(message, ...(await chat.run(message.tool_calls)))
  }
  expect(requests[0]?.tools).toContainEqual({
    type: 'function',
    function: {
      name: 'feed',
      description: 'Feeds an animal',
      parameters: expect.objectContaining({ required: ['animal'] }),
    },
  })
  expect(requests[1]?.messages?.slice(2)).toEqual([
    { role: 'tool', tool_call_id: 'c1', content: 'The owl is fed 1 times.' },
    {
      role: 'tool',
      tool_call_id: 'c2',
      content: 'An owl:\n[audio: audio/wav, 6 bytes, not shown]\n[1 image in the next message]',
    },
    { role: 'tool', tool_call_id: 'c3', content: 'The owl is asleep.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Images of the tool photo:' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
      ],
    },
  ])
})

test('in strict mode, null stands for a missing argument', async () => {
  await using all = await connectZoo()
  const chat = openaiChat(await createToolset(all), { strict: true })
  const feed = chat.tools.find((tool) => tool.function.name === 'feed')?.function
  expect(feed).toMatchObject({
    strict: true,
    parameters: {
      required: ['animal', 'portions'],
      additionalProperties: false,
      properties: { portions: { type: ['integer', 'null'], minimum: 1 } },
    },
  })
  const call = { name: 'feed', arguments: '{"animal":"owl","portions":null}' }
  expect(await chat.run([{ id: 'c1', type: 'function', function: call }])).toEqual([
    { role: 'tool', tool_call_id: 'c1', content: 'The owl is fed 1 times.' },
  ])
})

test('the OpenAI client runs a response with function calls', async () => {
  await using all = await connectZoo()
  const responses = openaiResponses(await createToolset(all))
  const requests: { input?: unknown[]; tools: unknown[] }[] = []
  const openai = fakeOpenAI((request) => {
    requests.push(request)
    const calls = ['photo', 'links', 'count'].map((name, index) => ({
      type: 'function_call',
      id: `f${index}`,
      call_id: `c${index}`,
      name,
      arguments: '{}',
    }))
    return { id: 'r', object: 'response', output: requests.length === 1 ? calls : [] }
  })
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Show me all.' }]
  for (let turn = 0; turn < 2; turn += 1) {
    const { output } = await openai.responses.create({ model: 'm', input, tools: responses.tools })
    input.push(...output.filter((item) => item.type === 'function_call'), ...(await responses.run(output)))
  }
  expect(requests[0]?.tools[0]).toMatchObject({ type: 'function', name: 'feed', strict: false })
  expect(requests[1]?.input?.slice(-3)).toEqual([
    {
      type: 'function_call_output',
      call_id: 'c0',
      output: [
        { type: 'input_text', text: 'An owl:' },
        { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'auto' },
        { type: 'input_text', text: '[audio: audio/wav, 6 bytes, not shown]' },
      ],
    },
    {
      type: 'function_call_output',
      call_id: 'c1',
      output: [
        { type: 'input_text', text: '[resource map: zoo://map, text/plain]' },
        { type: 'input_text', text: '[resource zoo://hours]\n9 to 5' },
        { type: 'input_file', filename: 'plan.pdf', file_data: 'data:application/pdf;base64,JVBERg==' },
        { type: 'input_text', text: '[all.zip: application/zip, 3 bytes, not shown]' },
      ],
    },
    { type: 'function_call_output', call_id: 'c2', output: '{"owls":3}' },
  ])
})

test('without media, results are text', async () => {
  await using all = await connectZoo()
  const chat = openaiChat(await createToolset(all), { media: false })
  const call = { name: 'photo', arguments: '{}' }
  const messages = await chat.run([{ id: 'c1', type: 'function', function: call }])
  expect(messages).toHaveLength(1)
  expect(messages[0]?.content).toContain('[image: image/png, 9 bytes, not shown]')
})
