import { type Content, GoogleGenAI } from '@google/genai'
import { expect, test, vi } from 'vitest'
import { createToolset, geminiContent } from './index.ts'
import { connectZoo, PNG } from './zoo.fixture.ts'

test('the Gemini client generates content with function calls', async () => {
  await using all = await connectZoo()
  const gemini = geminiContent(await createToolset(all))
  const requests: { contents: Content[]; tools: { functionDeclarations: unknown[] }[] }[] = []
  vi.stubGlobal('fetch', async (_url: unknown, init?: { body?: unknown }) => {
    requests.push(JSON.parse(String(init?.body)))
    const calls = [
      { functionCall: { id: 'c1', name: 'feed', args: { animal: 'owl' } } },
      { functionCall: { name: 'photo', args: {} } },
      { functionCall: { name: 'fail' } },
    ]
    const parts = requests.length === 1 ? calls : [{ text: 'ok' }]
    return Response.json({ candidates: [{ content: { role: 'model', parts } }] })
  })
  const ai = new GoogleGenAI({ apiKey: 'none' })
  const contents: Content[] = [{ role: 'user', parts: [{ text: 'Feed the owl.' }] }]
  for (let turn = 0; turn < 2; turn += 1) {
    const response = await ai.models.generateContent({ model: 'gemini-3', contents, config: { tools: gemini.tools } })
    const content = response.candidates?.[0]?.content
    if (content === undefined) throw new Error('no content')
    contents.push(content, { role: 'user', parts: await gemini.run(response.functionCalls) })
  }
  vi.unstubAllGlobals()
  const declarations = requests[0]?.tools[0]?.functionDeclarations
  expect(declarations?.[0]).toMatchObject({
    name: 'feed',
    description: 'Feeds an animal',
    parametersJsonSchema: { type: 'object', required: ['animal'], properties: { portions: { minimum: 1 } } },
  })
  expect(declarations?.[1]).toEqual({ name: 'photo' })
  expect(requests[1]?.contents.at(-1)?.parts).toEqual([
    { functionResponse: { id: 'c1', name: 'feed', response: { output: 'The owl is fed 1 times.' } } },
    {
      functionResponse: {
        name: 'photo',
        response: { output: 'An owl:\n[audio: audio/wav, 6 bytes, not shown]' },
        parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }],
      },
    },
    { functionResponse: { name: 'fail', response: { error: 'The owl is asleep.' } } },
  ])
})
