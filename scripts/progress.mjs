// Shows what is being done and for how long: one living line in a terminal, plain lines everywhere else.
const INTERVAL = 100
const PLAIN_INTERVAL = 15_000
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

const living = process.stdout.isTTY === true && process.env.CI === undefined && process.env.TERM !== 'dumb'
const coloured = living && process.env.NO_COLOR === undefined
const paint = (code) => (text) => (coloured ? `\u001b[${code}m${text}\u001b[0m` : text)

/** Tells the tools whose output is captured what they cannot see themselves: whether a terminal will show it. */
export const colourSettings = coloured ? { FORCE_COLOR: '1' } : { NO_COLOR: '1' }

export const bold = paint(1)
export const dim = paint(2)
export const red = paint(31)
export const green = paint(32)
export const yellow = paint(33)

/** '0.4 s', '12.3 s', '2 min 5 s'. */
export function elapsed(seconds) {
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}

/**
 * Says that `title` has begun and keeps saying so.
 * `note(text)` tells what it is at (shown beside the time); `done()` takes the living line away.
 */
export function showProgress(title) {
  const started = performance.now()
  let latest = ''
  let frame = 0
  const seconds = () => (performance.now() - started) / 1000
  const draw = () => {
    frame += 1
    const line = `${frames[frame % frames.length]} ${title} ${Math.floor(seconds())} s  ${latest}`
    process.stdout.write(`\r\u001b[K${line.slice(0, (process.stdout.columns ?? 80) - 1)}`)
  }
  const repeat = () => process.stdout.write(`${title}: ${elapsed(seconds())} ${latest}\n`)
  const timer = setInterval(living ? draw : repeat, living ? INTERVAL : PLAIN_INTERVAL)
  timer.unref()
  return {
    note(text) {
      latest = text
    },
    done() {
      clearInterval(timer)
      if (living) process.stdout.write('\r\u001b[K')
      return seconds()
    },
  }
}
