/** The formats that a text in a form may have. Each is told in time that grows with the text, and no faster. */

const EMAIL = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)*$/
const DATE = /^\d{4}-\d\d-\d\d$/
/** RFC 3339; the seconds may leap. */
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i

const formats: Readonly<Record<string, readonly [expected: string, fits: (text: string) => boolean]>> = {
  email: ['an email address', (text) => EMAIL.test(text)],
  uri: ['an absolute URI', (text) => URL.canParse(text) && !/\s/.test(text)],
  date: ['a date (YYYY-MM-DD)', isDate],
  'date-time': ['a date and time (YYYY-MM-DDThh:mm:ssZ)', isDateTime],
}

/** What is wrong with a text; nothing when it has the format, or the format is none that forms have. */
export function formatProblem(format: string, text: string): string | undefined {
  const known = Object.hasOwn(formats, format) ? formats[format] : undefined
  return known === undefined || known[1](text) ? undefined : `expected ${known[0]}`
}

function isDate(text: string): boolean {
  if (!DATE.test(text)) return false
  const time = Date.parse(text)
  // Some runtimes take the 30th of February for the 2nd of March.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

function isDateTime(text: string): boolean {
  return isDate(text.slice(0, 10)) && /^t$/i.test(text.charAt(10)) && TIME.test(text.slice(11))
}
