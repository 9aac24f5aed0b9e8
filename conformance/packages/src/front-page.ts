/** The server and the client of the README. */
import { createServer } from 'node:net'
import { join } from 'node:path'
import { blocksOf, consolesOf, stepsOf } from '@mcpx/conformance-readmes/blocks'

export interface FrontPage {
  readonly server: string
  readonly client: string
  /** The expected output of the client. */
  readonly prints: string
}

/** Reads both programs and replaces the port. */
export function readFrontPage(root: string, port: number): FrontPage {
  const blocks = blocksOf(join(root, 'README.md'))
  const textOf = (file: string): string => {
    const block = blocks.find((each) => each.file === file)
    if (block === undefined) throw new Error(`README.md has no block that is ${file}`)
    return block.text.replaceAll('3000', `${port}`)
  }
  const steps = consolesOf(blocks).flatMap(stepsOf)
  const prints = steps.find(({ command }) => command === 'node client.ts')?.prints.join('\n') ?? ''
  return { server: textOf('server.ts'), client: textOf('client.ts'), prints }
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0))
    })
  })
}
