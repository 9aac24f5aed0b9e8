/** Prompts, their arguments, and completion. */

import { createServer, text } from '@mcpx/server'
import { expect } from 'vitest'
import * as z from 'zod'
import type { Behaviours } from '../behaviour.ts'

function prompts() {
  return createServer({ name: 'prompts', version: '1' })
    .prompt(
      'review',
      {
        title: 'Review',
        description: 'Reviews code',
        args: z.object({
          code: z.string().describe('What to review'),
          times: z.string().regex(/^\d+$/).transform(Number).optional(),
        }),
        complete: { code: (value) => Array.from({ length: 150 }, (_, index) => `${value}${index}`) },
      },
      ({ code, times = 1 }) => `Review ${times} times: ${code}`,
    )
    .prompt('plain', {}, () => [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: text('Hi') },
    ])
    .prompt('whole', {}, () => ({ description: 'All of it', messages: [{ role: 'user', content: text('x') }] }))
}

export const promptBehaviours: Behaviours = {
  async 'prompts are listed with their arguments'({ connect, revision }) {
    const [review, plain] = await (await connect(prompts())).listPrompts().all()
    expect(review).toMatchObject({
      name: 'review',
      description: 'Reviews code',
      arguments: [{ name: 'code', description: 'What to review', required: true }, { name: 'times' }],
    })
    expect(review?.title).toBe(revision < '2025-06-18' ? undefined : 'Review')
    expect(plain).toEqual({ name: 'plain' })
  },

  async 'a prompt receives its arguments'({ connect }) {
    const client = await connect(prompts())
    expect(await client.getPrompt('review', { code: 'x = 1', times: '3' })).toMatchObject({
      messages: [{ role: 'user', content: { type: 'text', text: 'Review 3 times: x = 1' } }],
    })
    expect((await client.getPrompt('plain')).messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect(await client.getPrompt('whole')).toMatchObject({ description: 'All of it' })
  },

  async 'invalid arguments and unknown prompts are rejected'({ connect }) {
    const client = await connect(prompts())
    await expect(client.getPrompt('review' as string)).rejects.toMatchObject({
      code: -32602,
      message: 'Missing argument: "code"',
    })
    await expect(client.getPrompt('review', { code: 'x', times: 'often' })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('arguments.times'),
    })
    await expect(client.getPrompt('nope')).rejects.toMatchObject({ code: -32602, message: 'Unknown prompt: "nope"' })
  },

  async 'a completion returns at most a hundred values'({ connect }) {
    const client = await connect(prompts())
    const ref = { type: 'ref/prompt', name: 'review' } as const
    const { completion } = await client.complete({ ref, argument: { name: 'code', value: 'a' } })
    expect(completion.values).toHaveLength(100)
    expect(completion).toMatchObject({ total: 150, hasMore: true })
    const other = await client.complete({ ref, argument: { name: 'times', value: '' } })
    expect(other.completion.values).toEqual([])
    const unknown = { type: 'ref/prompt', name: 'nope' } as const
    await expect(client.complete({ ref: unknown, argument: { name: 'code', value: '' } })).rejects.toMatchObject({
      code: -32602,
    })
  },

  async 'completions are declared in revisions with that capability'({ connect, revision }) {
    const { capabilities } = (await connect(prompts())).server
    expect(capabilities.completions).toEqual(revision < '2025-03-26' ? undefined : {})
  },
}
