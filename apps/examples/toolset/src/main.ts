/** Converts the tools of a server for five model APIs, and executes the calls of simulated models. `npm start` */
import { strict as assert } from 'node:assert'
import { connectAll } from '@mcpx/client'
import { createServer, image, text } from '@mcpx/server'
import {
  aiSdkTools,
  anthropicMessages,
  createToolset,
  geminiContent,
  listSchemaChanges,
  openaiChat,
  openaiResponses,
  searchTools,
} from '@mcpx/toolset'
import { generateText, isStepCount, jsonSchema } from 'ai'
import { z } from 'zod'
import { modelThatFeeds } from './model.ts'

const zoo = createServer({ name: 'zoo', version: '1.0.0' })
  .tool(
    'feed',
    {
      description: 'Feeds an animal',
      input: z.object({ animal: z.string(), portions: z.int().positive().optional() }),
    },
    ({ animal }) => `The ${animal} is fed.`,
  )
  .tool('photo', { description: 'Shows an animal' }, () => [text('An owl:'), image('iVBORw0KGgo=', 'image/png')])

await using all = await connectAll({ zoo })
const toolset = await createToolset(all)
// `connectAll` gives tools names that model APIs accept.
assert.deepEqual([...toolset.tools.keys()], ['zoo_feed', 'zoo_photo'])

// The AI SDK runs the whole conversation. This model calls a tool, then answers.
const tools = aiSdkTools(toolset, { jsonSchema })
const answer = await generateText({
  model: modelThatFeeds('zoo_feed', { animal: 'owl' }),
  tools,
  stopWhen: isStepCount(3),
  prompt: 'Feed the owl.',
})
assert.equal(answer.text, 'I fed the owl.')
assert.equal(answer.steps.length, 2)
console.log(`AI SDK: ${answer.text}`)

// OpenAI: tool messages, or items of a response. In strict mode, null means a missing argument.
const chat = openaiChat(toolset, { strict: true })
const call = { name: 'zoo_feed', arguments: '{"animal":"owl","portions":null}' }
const messages = await chat.run([{ id: 'call_1', type: 'function', function: call }])
assert.deepEqual(messages, [{ role: 'tool', tool_call_id: 'call_1', content: 'The owl is fed.' }])
const unfinished = { ...call, arguments: '{"an' }
const [complaint] = await chat.run([{ id: 'call_2', type: 'function', function: unfinished }])
assert.match(String(complaint?.content), /zoo_feed: expected the arguments as a JSON object/)

const responses = openaiResponses(toolset)
const [item] = await responses.run([{ type: 'function_call', call_id: 'call_1', name: 'zoo_photo', arguments: '{}' }])
assert.deepEqual(Array.isArray(item?.output) && item.output.map(({ type }) => type), ['input_text', 'input_image'])
console.log(`OpenAI: ${chat.tools.length} tools, called, answered, error reported`)

// Anthropic: blocks with images and an error flag.
const claude = anthropicMessages(toolset)
const [photo, wrong] = await claude.run([
  { type: 'tool_use', id: 'toolu_1', name: 'zoo_photo', input: {} },
  { type: 'tool_use', id: 'toolu_2', name: 'zoo_feed', input: { animal: 3 } },
])
assert.deepEqual(
  photo?.content.map(({ type }) => type),
  ['text', 'image'],
)
assert.equal(wrong?.is_error, true)
assert.match(JSON.stringify(wrong.content), /arguments\.animal/)
console.log(`Anthropic: ${claude.tools.length} tools, called, answered, error reported`)

// Gemini: function responses. Its schemas have no `exclusiveMinimum`, so the toolset checks it before the call.
const gemini = geminiContent(toolset)
const lost = listSchemaChanges(toolset, 'gemini').filter(({ effect }) => effect === 'wider')
assert.deepEqual([...new Set(lost.map(({ tool, path }) => `${tool} ${path}`))], ['zoo_feed #/properties/portions'])
const [part] = await gemini.run([{ name: 'zoo_feed', args: { animal: 'owl', portions: 0 } }])
assert.match(JSON.stringify(part), /"error":"zoo_feed: the arguments do not fit the tool. arguments.portions/)
console.log(`Gemini: ${gemini.tools[0]?.functionDeclarations.length} tools, called, refused an argument`)

// With many tools, a model first searches for a tool, then calls it.
const search = anthropicMessages(searchTools(toolset))
assert.deepEqual(
  search.tools.map(({ name }) => name),
  ['search_tools', 'call_tool'],
)
const [found] = await search.run([
  { type: 'tool_use', id: 't1', name: 'search_tools', input: { query: 'feed animals' } },
])
assert.match(JSON.stringify(found?.content), /zoo_feed/)
console.log('search: found a tool')
console.log('ok')
