// Shows the current task and its duration: one updated line in a terminal, a line every 15 seconds elsewhere.
const INTERVAL = 100
const PLAIN_INTERVAL = 15_000
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

const interactive = process.stdout.isTTY === true && process.env.CI === undefined && process.env.TERM !== 'dumb'
const coloured = interactive && process.env.NO_COLOR === undefined
const paint = (code) => (text) => (coloured ? `\u001b[${code}m${text}\u001b[0m` : text)

/** Tells tools with captured output whether to use colours. */
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
 * Shows `title` and the time since it started.
 * `note(text)` sets a text beside the time; `done()` removes the line and returns the seconds.
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
  const timer = setInterval(interactive ? draw : repeat, interactive ? INTERVAL : PLAIN_INTERVAL)
  timer.unref()
  return {
    note(text) {
      latest = text
    },
    done() {
      clearInterval(timer)
      if (interactive) process.stdout.write('\r\u001b[K')
      return seconds()
    },
  }
}
