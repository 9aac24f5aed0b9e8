// The address of a server, and the line that it prints when it listens.
export const host = '127.0.0.1'
export const port = Number(process.env.PORT ?? 3000)
/** Whether a server should respond with SSE, if it is configurable. */
export const asEvents = process.env.ANSWERS === 'events'

export function ready() {
  process.stdout.write('ready\n')
}
