/** Opens streams and reads them until they are closed. */
import { Connection } from './connection.ts'
import { getStream, isEvents, post, type Target } from './requests.ts'

/** An open stream, with the number of its events that contain a text. */
export interface OpenStream {
  readonly connection: Connection
  events: number
}

/** Opens the GET stream of a session, or a subscription of the modern era. */
export async function openStream(target: Target, marker: string): Promise<OpenStream> {
  const connection = await Connection.open(target.port)
  const stream: OpenStream = { connection, events: 0 }
  const { socket } = connection
  socket.removeAllListeners('data')
  await new Promise<void>((resolve, reject) => {
    socket.once('data', (data) => {
      const head = data.toString('latin1')
      // A protocol error also has the status 200.
      if (!head.startsWith('HTTP/1.1 200') || !isEvents(head)) return reject(new Error(`No stream: ${head}`))
      socket.on('data', (more) => {
        if (more.includes(marker)) stream.events += 1
      })
      resolve()
    })
    socket.write(requestOf(target))
  })
  return stream
}

function requestOf(target: Target): string {
  if (target.era === 'legacy') return getStream(target)
  return post(target, 'subscriptions/listen', { notifications: { toolsListChanged: true } }, 1)
}
