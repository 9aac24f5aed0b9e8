import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { telemetry } from './index.ts'
import { createRig } from './rig.fixture.ts'

it.each([
  [{ tracr: true }, 'telemetry: there is no option "tracr"; did you mean "tracer"?'],
  [{ captureContent: true }, 'telemetry: there is no option "captureContent"; did you mean "content"?'],
  [{ tracer: {} }, 'telemetry: tracer: expected an object such as trace.getTracer(name), or false, got object'],
  [{ tracer: true }, 'telemetry: tracer: expected an object such as trace.getTracer(name), or false, got boolean'],
  [{ meter: 'm' }, 'telemetry: meter: expected an object such as metrics.getMeter(name), or false, got string'],
  [
    { propagator: null },
    'telemetry: propagator: expected an object such as new W3CTraceContextPropagator(), or false, got null',
  ],
  [{ trust: 'yes' }, 'telemetry: trust: expected "parent", "link" or "ignore", got "yes"'],
  [{ ignore: 'ping' }, 'telemetry: ignore: expected an array of methods such as ["ping"], got string'],
  [{ content: { maxlength: 1 } }, 'telemetry: content: there is no option "maxlength"; did you mean "maxLength"?'],
  [{ content: { maxLength: -1 } }, 'telemetry: content.maxLength: expected a number from 0, got -1'],
])('refuses %o', (options, message) => {
  expect(() => telemetry(options as never)).toThrow(message)
})

describe('the content of calls', () => {
  const secret = { q: 'owls', apiKey: 'sk-1234', nested: { password: 'p' } }

  it('is not in spans by default', async () => {
    const { client, here, there } = await createRig()
    await client.callTool('search', secret)
    for (const { attributes } of [...here.spans, ...there.spans]) {
      expect(JSON.stringify(attributes)).not.toContain('owls')
    }
  })

  it('is in the spans of both sides by option, without secrets', async () => {
    const { client, here, there } = await createRig({ client: { content: true }, server: { content: true } })
    await client.callTool('search', secret)
    for (const sdk of [here, there]) {
      const { attributes } = sdk.named('tools/call search')[0] ?? {}
      expect(JSON.parse(attributes?.['gen_ai.tool.call.arguments'] as string)).toEqual({
        q: 'owls',
        apiKey: '[redacted]',
        nested: { password: '[redacted]' },
      })
      expect(JSON.parse(attributes?.['gen_ai.tool.call.result'] as string)).toMatchObject({
        content: [{ type: 'text', text: 'found owls' }],
      })
    }
  })

  it('has no secrets in the text that repeats the structured content of a result', async () => {
    const { client, there, shop } = await createRig({ server: { content: true } })
    const output = z.object({ token: z.string(), user: z.string() })
    shop.tool('log-in', { output }, () => ({ token: 'hunter22', user: 'ann' }))
    expect(await client.callTool('log-in')).toMatchObject({ content: [{ text: expect.stringContaining('hunter22') }] })
    const result = there.named('tools/call log-in')[0]?.attributes['gen_ai.tool.call.result']
    expect(result).toContain('ann')
    expect(result).not.toContain('hunter22')
  })

  it('is shortened, and keys are secret by option', async () => {
    const content = { maxLength: 100, isSecret: (key: string) => key === 'q' }
    const { client, here } = await createRig({ client: { content } })
    await client.callTool('search', { q: 'owls', text: 'x'.repeat(5_000), more: 'y' })
    const text = here.named('tools/call search')[0]?.attributes['gen_ai.tool.call.arguments'] as string
    expect(text).not.toContain('owls')
    expect(text.length).toBeLessThan(200)
  })

  it('of prompts are variables', async () => {
    const { client, there } = await createRig({ server: { content: true } })
    await client.getPrompt('review', { code: 'let a', token: 't', url: 'https://ann:secret@a.example/' })
    expect(there.named('prompts/get review')[0]?.attributes).toMatchObject({
      'gen_ai.prompt.variable.code': 'let a',
      'gen_ai.prompt.variable.token': '[redacted]',
      'gen_ai.prompt.variable.url': 'https://[redacted]@a.example/',
    })
  })
})

describe('values that peers choose', () => {
  it('is cut in names and attributes', async () => {
    const { client, there } = await createRig()
    const uri = `note://${'x'.repeat(3_000)}`
    await client.readResource(uri)
    await client.request(`m/${'y'.repeat(3_000)}`).catch(() => {})
    const lengths = there.spans.flatMap(({ name, attributes }) =>
      [name, ...Object.values(attributes)].map((value) => `${value}`.length),
    )
    expect(Math.max(...lengths)).toBe(1_024)
  })

  it('does not break spans if its types are wrong', async () => {
    const { client, there } = await createRig()
    for (const params of [{ name: 7 }, { name: 'search', arguments: 'x' }, {}]) {
      await expect(client.request('tools/call', params as never)).rejects.toThrow('params')
    }
    await expect(client.request('completion/complete', { ref: 7 } as never)).rejects.toThrow('params')
    expect(there.named('tools/call')).toHaveLength(2)
  })
})

it('a propagator of its own may write other keys, up to 512 characters each', async () => {
  const seen: unknown[] = []
  const propagator = {
    inject: (_: unknown, carrier: unknown, { set }: { set(carrier: unknown, key: string, value: string): void }) => {
      set(carrier, 'b3', '1')
      set(carrier, 'x-long', 'x'.repeat(513))
    },
    extract: (context: never, carrier: never, { get }: { get(carrier: never, key: string): unknown }) => {
      seen.push(get(carrier, 'b3'), get(carrier, 'x-long'))
      return context
    },
    fields: () => ['b3', 'x-long'],
  } as never
  const { client } = await createRig({ client: { propagator }, server: { propagator } })
  seen.length = 0
  await client.callTool('search', { q: 'a' }, { meta: { 'x-long': 'y'.repeat(513) } })
  expect(seen.slice(0, 2)).toEqual(['1', undefined])
})

it('telemetry that fails never fails a call', async () => {
  const broken = () => {
    throw new Error('broken exporter')
  }
  const warnings: string[] = []
  const { client } = await createRig({
    server: { tracer: { startSpan: broken } as never },
    client: { meter: { createHistogram: () => ({ record: broken }) } as never },
    clientOptions: { onWarning: ({ message }) => void warnings.push(message) },
  })
  expect(await client.callTool('search', { q: 'a' })).toMatchObject({ content: [{ text: 'found a' }] })
  expect(warnings).toContain('telemetry failed: broken exporter')
})
