import { expect, it, onTestFinished } from 'vitest'
import { scriptedServer } from '../test/scripted-server.ts'
import { connect } from './connect.ts'

it('a client warns once of deprecated features, and only with servers of the newest revision [C-131]', async () => {
  const warnings: { code?: string | undefined; message: string }[] = []
  const record = (warning: Error & { code?: string }) => void warnings.push(warning)
  process.on('warning', record)
  onTestFinished(() => void process.off('warning', record))
  const onSample = () => ({ role: 'assistant' as const, content: { type: 'text' as const, text: '' }, model: 'm' })
  const used = { onSample, roots: [], logLevel: 'info' as const }
  await using _older = await connect(scriptedServer('2025-11-25'), used)
  await using _plain = await connect(scriptedServer('2026-07-28'), { onElicit: () => ({ action: 'cancel' }) })
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(warnings).toEqual([])
  for (let times = 0; times < 3; times += 1) {
    await using _newer = await connect(scriptedServer('2026-07-28'), used)
  }
  await expect.poll(() => warnings.map(({ code }) => code)).toEqual(['MCPX_SAMPLING', 'MCPX_ROOTS', 'MCPX_LOGGING'])
  expect(warnings[0]).toMatchObject({ name: 'DeprecationWarning', message: expect.stringContaining('API of a model') })
})
