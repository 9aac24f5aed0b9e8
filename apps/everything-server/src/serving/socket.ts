/** Serves each connection to a socket like stdio, with limits for untrusted peers. */
import { once } from 'node:events'
import { type Server as Listener, createServer as listenOn } from 'node:net'
import type { Server } from '@mcpx/server'
import { serveStdio } from '@mcpx/transport-stdio'

/** @param signal closes the socket and all connections. */
export async function serveSocket(server: Server, path: string, signal: AbortSignal): Promise<Listener> {
  const listener = listenOn((socket) => {
    const { closed } = serveStdio(server, {
      input: socket,
      output: socket,
      signal,
      maxLineLength: 1024 * 1024,
      maxUnsent: 4 * 1024 * 1024,
      flushTimeout: 1_000,
      limits: { running: 100, receivedBytes: 8 * 1024 * 1024, pending: 100, unsent: 1_000, stallTimeout: 10_000 },
      onWarning: (problem) => console.error(problem.message),
    })
    void closed.then((problem) => problem && console.error(`a connection was lost: ${problem.message}`))
  })
  listener.listen(path)
  signal.addEventListener('abort', () => listener.close())
  await once(listener, 'listening')
  return listener
}
