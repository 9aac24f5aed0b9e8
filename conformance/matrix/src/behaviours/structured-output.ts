/** Structured content of tool results. */

import { createServer, text } from '@mcpx/server'
import { expect } from 'vitest'
import * as z from 'zod'
import type { Behaviours } from '../behaviour.ts'
import { errorTextOf, jsonOf, textOf } from '../results.ts'

const info = { name: 'structured', version: '1.0.0' }
const sum = z.object({ sum: z.number() })

export const structuredOutput: Behaviours = {
  async 'a tool with an output schema returns structured content that matches it'({ connect }) {
    const server = createServer(info).tool('add', { output: sum }, () => ({ sum: 3 }))
    const client = await connect(server)
    const [tool] = await client.listTools().all()
    expect(tool?.outputSchema, 'outputSchema').toMatchObject({
      type: 'object',
      properties: { sum: { type: 'number' } },
    })
    expect((await client.callTool('add')).structuredContent).toEqual({ sum: 3 })
  },

  async 'a tool called as a function returns its structured value'({ connect }) {
    const server = createServer(info).tool('add', { output: sum }, () => ({ sum: 3 }))
    const client = await connect(server)
    expect(await client.tools.add({})).toEqual({ sum: 3 })
  },

  async 'the text content equals the structured content'({ connect }) {
    const server = createServer(info).tool('add', { output: sum }, () => ({ sum: 3 }))
    expect(jsonOf(await (await connect(server)).callTool('add'))).toEqual({ sum: 3 })
  },

  async 'a result that does not match the output schema is an error of the server'({ connect }) {
    const errors: unknown[] = []
    const server = createServer(info, { onError: (error) => void errors.push(error) }).tool(
      'add',
      { output: sum },
      () => ({ sum: 'three' }) as never,
    )
    const result = await (await connect(server)).callTool('add')
    expect(errorTextOf(result)).toMatch(/^The tool failed \(error [0-9a-f]{8}\)$/)
    expect(result.structuredContent).toBeUndefined()
    expect(errors.map(String)).toEqual([expect.stringContaining('result.sum')])
  },

  async 'a complete result may have structured content without an output schema'({ connect }) {
    const whole = { content: [text('three')], structuredContent: { sum: 3 } }
    const server = createServer(info).tool('add', {}, () => whole)
    const result = await (await connect(server)).callTool('add')
    expect(result.content).toEqual([{ type: 'text', text: 'three' }])
    expect(result.structuredContent, 'structuredContent').toEqual({ sum: 3 })
  },

  async 'structured content is any JSON value'({ connect }) {
    const values: [string, z.ZodType, unknown][] = [
      ['list', z.array(z.number()), [1, 2]],
      ['number', z.number(), 0],
      ['string', z.string(), ''],
      ['switch', z.boolean(), false],
      ['nothing', z.null(), null],
    ]
    const server = createServer(info)
    for (const [name, output, value] of values) server.tool(name, { output }, () => value)
    const client = await connect(server)
    expect((await client.listTools().all()).map(({ name, outputSchema }) => [name, outputSchema?.type])).toEqual([
      ['list', 'array'],
      ['number', 'number'],
      ['string', 'string'],
      ['switch', 'boolean'],
      ['nothing', 'null'],
    ])
    for (const [name, , value] of values) {
      const result = await client.callTool(name)
      expect(result.structuredContent).toEqual(value)
      expect(jsonOf(result)).toEqual(value)
    }
  },

  async 'a structured value that is not an object is also returned as text'({ connect }) {
    const server = createServer(info).tool('list', { output: z.array(z.number()) }, () => [1, 2])
    const client = await connect(server)
    expect(textOf(await client.callTool('list'))).toBe('[1,2]')
    // After listing tools the client knows the schema and validates the result.
    expect((await client.listTools().all()).map(({ name }) => name)).toEqual(['list'])
    expect(textOf(await client.callTool('list'))).toBe('[1,2]')
  },
}
