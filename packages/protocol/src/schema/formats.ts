/** The formats that a text in a form may have. Each is told in time that grows with the text, and no faster. */

const EMAIL = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)*$/
const DATE = /^\d{4}-\d\d-\d\d$/
/** What follows the date (RFC 3339); the seconds may leap. */
const TIME = /^t(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i

const formats: Readonly<Record<string, readonly [expected: string, fits: (text: string) => boolean]>> = {
  email: ['an email address', (text) => EMAIL.test(text)],
  uri: ['an absolute URI', (text) => URL.canParse(text) && !/\s/.test(text)],
  date: ['a date (YYYY-MM-DD)', isDate],
  'date-time': ['a date and time (YYYY-MM-DDThh:mm:ssZ)', isDateTime],
}

/** What is expected instead of a text; nothing when it has the format, or the format is none that forms have. */
export function formatProblem(format: string, text: string): string | undefined {
  const known = Object.hasOwn(formats, format) ? formats[format] : undefined
  return known === undefined || known[1](text) ? undefined : known[0]
}

function isDate(text: string): boolean {
  if (!DATE.test(text)) return false
  const date = new Date(text)
  // Some runtimes take the 30th of February for the 2nd of March.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

function isDateTime(text: string): boolean {
  return isDate(text.slice(0, 10)) && TIME.test(text.slice(10))
}
