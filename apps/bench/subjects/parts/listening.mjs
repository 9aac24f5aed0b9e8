// Where a server listens, and the line by which it says that it does.
export const host = '127.0.0.1'
export const port = Number(process.env.PORT ?? 3000)
/** Whether answers are to be streams of events, where a server leaves one the choice. */
export const asEvents = process.env.ANSWERS === 'events'

export function ready() {
  process.stdout.write('ready\n')
}
