// The work that all servers offer alike; TOOLS in the environment names what is registered (default: add).
import { number, object, string } from 'zod'

const SENTENCE = 'All work and no play makes for long texts that are sent again and again. '
const texts = new Map()

/** A text of so many characters, made once. */
function textOf(length) {
  if (!texts.has(length)) texts.set(length, SENTENCE.repeat(Math.ceil(length / SENTENCE.length)).slice(0, length))
  return texts.get(length)
}

const say = (text) => ({ content: [{ type: 'text', text }] })

/** Each takes the arguments and a way to report progress, and gives what the call results in. */
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
