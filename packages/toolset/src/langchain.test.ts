import { ToolMessage } from '@langchain/core/messages'
import { DynamicStructuredTool, type StructuredToolInterface } from '@langchain/core/tools'
import { convertToOpenAITool } from '@langchain/core/utils/function_calling'
import { expect, test, vi } from 'vitest'
import { createToolset, type LangChainToolFields, langchainTools } from './index.ts'
import { connectZoo, PNG } from './zoo.fixture.ts'

const create = (fields: LangChainToolFields) => new DynamicStructuredTool(fields)
const kit = { create, ToolMessage }

test('LangChain invokes the tools, and their messages have a status', async () => {
  await using all = await connectZoo()
  const tools: StructuredToolInterface[] = langchainTools(await createToolset(all), kit)
  const invoke = (name: string, args: Record<string, unknown>) => {
    const tool = tools.find((each) => each.name === name)
    return tool?.invoke({ type: 'tool_call', id: 'c1', name, args })
  }
  const fed: unknown = await invoke('feed', { animal: 'owl' })
  expect(fed).toBeInstanceOf(ToolMessage)
  expect(fed).toMatchObject({ content: 'The owl is fed 1 times.', tool_call_id: 'c1', status: 'success' })
  expect(await invoke('fail', {})).toMatchObject({ content: 'The owl is asleep.', status: 'error' })
  expect(await invoke('photo', {})).toMatchObject({
    content: [
      { type: 'text', text: 'An owl:' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
      { type: 'text', text: '[audio: audio/wav, 6 bytes, not shown]' },
    ],
    artifact: { content: [{ type: 'text' }, { type: 'image' }, { type: 'audio' }] },
  })
  expect(await tools[0]?.invoke({ animal: 'cat' })).toBe('The cat is fed 1 times.')
  expect(convertToOpenAITool(tools[0] as StructuredToolInterface)).toMatchObject({
    function: { name: 'feed', description: 'Feeds an animal', parameters: { required: ['animal'] } },
  })
})

test('a signal cancels an invocation', async () => {
  await using all = await connectZoo()
  const abort = new AbortController()
  const onProgress = vi.fn(() => abort.abort(new Error('enough')))
  const tools = langchainTools(await createToolset(all), { ...kit, onProgress })
  const slow = tools.find(({ name }) => name === 'slow')
  const call = { type: 'tool_call' as const, id: 'c1', name: 'slow', args: {} }
  await expect(slow?.invoke(call, { signal: abort.signal })).rejects.toThrow()
  expect(onProgress).toHaveBeenCalledWith({ progress: 1, total: 2, message: 'half' }, 'slow')
})
