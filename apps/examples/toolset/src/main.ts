/** Converts the tools of a server for five model APIs and executes the calls of simulated models. `npm start` */
import { strict as assert } from 'node:assert'
import { connectAll } from '@mcpx/client'
import { createServer, image, text } from '@mcpx/server'
import { generateText, isStepCount } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { z } from 'zod'
import { aiTools } from './ai-sdk.ts'
import { blocks, functions, items, parts } from './model-apis.ts'
import { createToolset } from './toolset.ts'

const zoo = createServer({ name: 'zoo', version: '1.0.0' })
  .tool(
    'feed',
    { description: 'Feeds an animal', input: z.object({ animal: z.string() }) },
    ({ animal }) => `The ${animal} is fed.`,
  )
  .tool('photo', {}, () => [text('An owl:'), image('iVBORw0KGgo=', 'image/png')])

await using all = await connectAll({ zoo })
const toolset = await createToolset(all)
// connectAll names tools as model APIs accept them.
assert.deepEqual([...toolset.tools.keys()], ['zoo_feed', 'zoo_photo'])

// Chat completions: functions, whose arguments are a JSON string.
const [feed] = functions.definitions(toolset)
assert.deepEqual(feed?.function.parameters.required, ['animal'])
const call = { id: 'call_1', function: { name: 'zoo_feed', arguments: '{"animal":"owl"}' } }
assert.deepEqual(await functions.answer(toolset, call), {
  role: 'tool',
  tool_call_id: 'call_1',
  content: 'The owl is fed.',
})
const unfinished = await functions.answer(toolset, { id: 'call_2', function: { name: 'zoo_feed', arguments: '{"an' } })
assert.match(unfinished.content, /JSON/)
console.log('functions: defined, called, answered, error reported')

// Responses: items.
assert.equal(items.definitions(toolset)[0]?.name, 'zoo_feed')
const item = await items.answer(toolset, { call_id: 'call_1', name: 'zoo_feed', arguments: '{"animal":"owl"}' })
assert.deepEqual(item, { type: 'function_call_output', call_id: 'call_1', output: 'The owl is fed.' })
console.log('items: defined, called, answered')

// Messages: blocks, which also carry images and an error flag.
assert.equal(blocks.definitions(toolset)[0]?.input_schema.type, 'object')
const photo = await blocks.answer(toolset, { id: 'toolu_1', name: 'zoo_photo', input: {} })
assert.deepEqual(
  photo.content.map(({ type }) => type),
  ['text', 'image'],
)
const wrong = await blocks.answer(toolset, { id: 'toolu_2', name: 'zoo_feed', input: { animal: 3 } })
assert.equal(wrong.is_error, true)
assert.match(JSON.stringify(wrong.content), /arguments\.animal/)
const invented = await blocks.answer(toolset, { id: 'toolu_3', name: 'zoo_fly', input: {} })
assert.match(JSON.stringify(invented.content), /There is no tool called zoo_fly. There are: zoo_feed, zoo_photo/)
console.log('blocks: defined, called, answered, error reported')

// Generate content: parts.
assert.equal(parts.definitions(toolset)[0]?.functionDeclarations.length, 2)
const part = await parts.answer(toolset, { name: 'zoo_feed', args: { animal: 'owl' } })
assert.deepEqual(part, { functionResponse: { name: 'zoo_feed', response: { output: 'The owl is fed.' } } })
console.log('parts: defined, called, answered')

// The AI SDK runs the whole conversation. This model calls a tool, then answers.
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
const model = new MockLanguageModelV4({
  async doGenerate({ prompt }) {
    const conversation = JSON.stringify(prompt)
    const isDone = conversation.includes('is fed')
    const input = JSON.stringify({ animal: 'owl' })
    return {
      content: isDone
        ? [{ type: 'text', text: 'I fed the owl.' }]
        : [{ type: 'tool-call', toolCallId: 'c1', toolName: 'zoo_feed', input }],
      finishReason: isDone ? { unified: 'stop', raw: 'stop' } : { unified: 'tool-calls', raw: 'tool_calls' },
      usage,
      warnings: [],
    }
  },
})
const answer = await generateText({ model, tools: aiTools(toolset), stopWhen: isStepCount(3), prompt: 'Feed the owl.' })
assert.equal(answer.text, 'I fed the owl.')
assert.equal(answer.steps.length, 2)
console.log(`AI SDK: ${answer.text}`)
console.log('ok')
