/** Forwards the standard error of a server, and keeps its last lines. */

import { createWriteStream } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import type { StderrTarget } from './spawn.ts'

const MAX_CHARACTERS = 8_192
const MAX_LINES = 50

/**
 * Forwards the stream to the target until its end, no faster than the target accepts it. Returns a function that
 * returns the last lines.
 */
export function followStderr(stream: Readable, target: StderrTarget, report: (problem: Error) => void): () => string[] {
  let tail = ''
  const forward = forwardTo(target, stream, report)
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    tail = (tail + text).slice(-MAX_CHARACTERS)
    forward(text)
  })
  stream.on('error', report)
  return () => {
    const lines = tail.split(/\r?\n/)
    if (lines.at(-1) === '') lines.pop()
    return lines.slice(-MAX_LINES)
  }
}

function forwardTo(target: StderrTarget, stream: Readable, report: (problem: Error) => void): (text: string) => void {
  if (target === 'ignore') return () => {}
  if (target === 'inherit') return (text) => write(process.stderr, stream, text)
  if (typeof target === 'function') {
    return (text) => {
      try {
        target(text)
      } catch (error) {
        report(error as Error)
      }
    }
  }
  const file = createWriteStream(target.file, { flags: 'a' })
  let isBroken = false
  file.on('error', (error) => {
    isBroken = true
    report(error)
    stream.resume()
  })
  stream.on('close', () => file.end())
  return (text) => {
    if (!isBroken) write(file, stream, text)
  }
}

function write(sink: Writable, stream: Readable, text: string): void {
  if (sink.write(text)) return
  stream.pause()
  sink.once('drain', () => stream.resume())
}
