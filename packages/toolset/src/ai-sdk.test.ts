import { generateText, isStepCount, jsonSchema, type streamText } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { expect, test, vi } from 'vitest'
import { aiSdkTools, createToolset } from './index.ts'
import { connectZoo, PNG } from './zoo.fixture.ts'

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

/** A model that calls some tools, then answers. */
function modelThatCalls(...names: string[]): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    async doGenerate({ prompt }) {
      const isDone = prompt.some(({ role }) => role === 'tool')
      const calls = names.map((toolName) => ({
        type: 'tool-call' as const,
        toolCallId: toolName,
        toolName,
        input: '{"animal":"owl"}',
      }))
      return {
        content: isDone ? [{ type: 'text', text: 'Done.' }] : calls,
        finishReason: isDone ? { unified: 'stop', raw: 'stop' } : { unified: 'tool-calls', raw: 'tool_calls' },
        usage,
        warnings: [],
      }
    },
  })
}

/** Returns the results that the model received in its second step. */
function outputsOf(model: MockLanguageModelV4): unknown[] {
  const contents = model.doGenerateCalls[1]?.prompt.flatMap(({ role, content }) => (role === 'tool' ? content : []))
  return (contents ?? []).flatMap((part) => ('output' in part ? [part.output] : []))
}

test('`generateText` runs the tools, and the model sees their results', async () => {
  await using all = await connectZoo()
  const tools = aiSdkTools(await createToolset(all), { jsonSchema })
  const model = modelThatCalls('feed', 'photo', 'fail')
  const { text } = await generateText({ model, tools, stopWhen: isStepCount(3), prompt: 'Feed the owl.' })
  expect(text).toBe('Done.')
  expect(outputsOf(model)).toMatchObject([
    { type: 'text', value: 'The owl is fed 1 times.' },
    {
      type: 'content',
      value: [
        { type: 'text', text: 'An owl:' },
        { type: 'file', data: { type: 'data', data: PNG }, mediaType: 'image/png', filename: 'image' },
        { type: 'file', data: { type: 'data', data: 'UklGRg==' }, mediaType: 'audio/wav', filename: 'audio' },
      ],
    },
    { type: 'error-text', value: 'The owl is asleep.' },
  ])
  expect(model.doGenerateCalls[0]?.tools?.[0]).toMatchObject({
    type: 'function',
    name: 'feed',
    description: 'Feeds an animal',
    inputSchema: { type: 'object', required: ['animal'] },
  })
})

test('the tools fit the types of `streamText`, and an aborted generation cancels its calls', async () => {
  await using all = await connectZoo()
  const abort = new AbortController()
  const onProgress = vi.fn(() => abort.abort())
  const tools = aiSdkTools(await createToolset(all), { jsonSchema, onProgress })
  type Tools = NonNullable<Parameters<typeof streamText>[0]['tools']>
  const typed: Tools = tools
  expect(Object.keys(typed)).toContain('slow')
  const model = modelThatCalls('slow')
  const abortSignal = abort.signal
  await expect(generateText({ model, tools, abortSignal, stopWhen: isStepCount(3), prompt: 'Wait.' })).rejects.toThrow()
  expect(onProgress).toHaveBeenCalledWith({ progress: 1, total: 2, message: 'half' }, 'slow')
})
