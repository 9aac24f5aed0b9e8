/** Passes on what a server writes to its standard error, and remembers the end of it. */

import { createWriteStream } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import type { StderrTarget } from './spawn-options.ts'

const MAX_CHARACTERS = 8_192
const MAX_LINES = 50

export interface StderrTail {
  /** The last lines so far. */
  lines(): string[]
}

/** Reads the stream to its end, no faster than the target takes it. */
export function followStderr(stream: Readable, target: StderrTarget, report: (problem: Error) => void): StderrTail {
  let tail = ''
  const pass = passTo(target, stream, report)
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    tail = (tail + text).slice(-MAX_CHARACTERS)
    pass(text)
  })
  stream.on('error', report)
  return {
    lines: () => {
      const lines = tail.split(/\r?\n/)
      if (lines.at(-1) === '') lines.pop()
      return lines.slice(-MAX_LINES)
    },
  }
}

function passTo(target: StderrTarget, stream: Readable, report: (problem: Error) => void): (text: string) => void {
  if (target === 'ignore') return () => {}
  if (typeof target === 'function') {
    return (text) => {
      try {
        target(text)
      } catch (error) {
        report(error as Error)
      }
    }
  }
  if (target === 'inherit') return (text) => writeTo(process.stderr, stream, text)
  const file = createWriteStream(target.file, { flags: 'a' })
  let isBroken = false
  file.on('error', (error) => {
    isBroken = true
    report(error)
    stream.resume()
  })
  stream.on('close', () => file.end())
  return (text) => {
    if (!isBroken) writeTo(file, stream, text)
  }
}

function writeTo(sink: Writable, stream: Readable, text: string): void {
  if (sink.write(text)) return
  stream.pause()
  sink.once('drain', () => stream.resume())
}
