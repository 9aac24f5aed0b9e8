// The tools of all servers; the environment variable TOOLS selects them (default: add).
import { number, object, string } from 'zod'

const SENTENCE = 'All work and no play makes for long texts that are sent again and again. '
const texts = new Map()

/** A string of the given length, created once. */
function textOf(length) {
  if (!texts.has(length)) texts.set(length, SENTENCE.repeat(Math.ceil(length / SENTENCE.length)).slice(0, length))
  return texts.get(length)
}

const say = (text) => ({ content: [{ type: 'text', text }] })

/** The handlers, which receive the arguments and a function to report progress. */
const all = {
  add: {
    description: 'Add two numbers',
    shape: { a: number(), b: number() },
    run: ({ a, b }) => say(String(a + b)),
  },
  count: {
    description: 'Report progress n times',
    shape: { n: number() },
    run: async ({ n }, progress) => {
      for (let done = 1; done <= n; done++) await progress(done, n)
      return say('done')
    },
  },
  give: {
    description: 'Give a text of so many characters',
    shape: { length: number() },
    run: ({ length }) => say(textOf(length)),
  },
  take: {
    description: 'Take a text, and give its length',
    shape: { text: string() },
    run: ({ text }) => say(String(text.length)),
  },
}

const wanted = (process.env.TOOLS ?? 'add').split(',')

export const info = { name: 'bench', version: '1.0.0' }
export const tools = wanted.map((name) => ({ name, schema: object(all[name].shape), ...all[name] }))
