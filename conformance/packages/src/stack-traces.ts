/** Makes an installed package throw, and checks the first frame of the stack trace with source maps. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Installed } from './isolated-install.ts'
import { run } from './tool.ts'

/** Programs that make a package throw and print the stack, by package. */
const programs: Readonly<Record<string, string>> = {
  '@mcpx/server': `
    import { createServer } from '@mcpx/server'
    try {
      createServer({ name: 'twice', version: '1.0.0' }).tool('a', {}, () => '').tool('a', {}, () => '')
    } catch (error) { console.log(error.stack) }`,
  '@mcpx/sse': `
    import { encodeEvent } from '@mcpx/sse'
    try { encodeEvent({ event: 'a\\nb', data: '' }) } catch (error) { console.log(error.stack) }`,
}

/** Checks that the first frame is in a published `.ts` file of the package, at the line that throws. */
export async function stackTraceFaults(name: string, { folder }: Installed, node: string): Promise<string[]> {
  const program = programs[name]
  if (program === undefined) return []
  const args = ['--enable-source-maps', '--input-type=module', '--eval', program]
  const { output } = await run(node, args, folder)
  return frameFaults(output, join(folder, 'node_modules', name))
}

export function frameFaults(stack: string, folder: string): string[] {
  const frame = /^ +at .*$/m.exec(stack)?.[0] ?? 'no frame'
  const { path = '', line = '' } = /\(?(?:file:\/\/)?(?<path>\/[^():]+):(?<line>\d+):\d+\)?$/.exec(frame)?.groups ?? {}
  const isSource = path.startsWith(join(folder, 'src/')) && path.endsWith('.ts') && existsSync(path)
  if (!isSource) return [`the first frame is not in a source of the package:\n${stack}`]
  const text = readFileSync(path, 'utf8').split('\n')[Number(line) - 1] ?? ''
  return /\bnew \w*Error\(/.test(text) ? [] : [`${path}:${line} does not throw: ${text.trim()}\n${stack}`]
}
