/** Tests the server over stdio, which the suite does not support, with clients of both eras. */
import { fileURLToPath } from 'node:url'
import { connect } from '@mcpx/client'
import { spawn } from '@mcpx/transport-stdio'
import type { Verdict } from './evaluate.ts'

const program = fileURLToPath(new URL('../../../apps/everything-server/dist/main.js', import.meta.url))

export async function servePipe(): Promise<Verdict[]> {
  return [await call('legacy'), await call('modern')]
}

async function call(era: 'legacy' | 'modern'): Promise<Verdict> {
  const reasons: string[] = []
  try {
    const connector = spawn(process.execPath, ['--no-deprecation', program, '--stdio'], {
      probeTimeout: 20_000,
      stderr: (text) => void reasons.push(text),
    })
    await using client = await connect(connector, { era })
    const { content } = await client.callTool('test_simple_text')
    if (content[0]?.type !== 'text') reasons.push(`got ${JSON.stringify(content)}`)
  } catch (error) {
    reasons.push(String(error))
  }
  const isGood = reasons.length === 0
  const counts = { passed: isGood ? 1 : 0, failed: isGood ? 0 : 1, warned: 0, skipped: 0 }
  return { scenario: `a ${era} client over stdio`, outcome: isGood ? 'passed' : 'failed', ...counts, reasons }
}
