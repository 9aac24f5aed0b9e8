import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { legacyDialogues } from './legacy-dialogues.ts'
import { modernDialogues } from './modern-dialogues.ts'
import { playDialogue } from './play-dialogue.ts'
import { probeDialogues } from './probe-dialogues.ts'
import { readTranscript } from './recorder.ts'

const dialogues = { ...legacyDialogues, ...modernDialogues, ...probeDialogues }
const folder = fileURLToPath(new URL('../transcripts/', import.meta.url))
const pathOf = (name: string) => `${folder}${name}.txt`

if (process.env.UPDATE_TRANSCRIPTS === '1') {
  mkdirSync(folder, { recursive: true })
  for (const [name, dialogue] of Object.entries(dialogues)) writeFileSync(pathOf(name), await playDialogue(dialogue))
}

describe('a dialogue', () => {
  it.each(Object.entries(dialogues))('matches its transcript: %s', async (name, dialogue) => {
    expect(await playDialogue(dialogue)).toBe(readFileSync(pathOf(name), 'utf8'))
  })

  it.each(Object.keys(dialogues))('has one response for each request: %s', (name) => {
    const open = new Set<string>()
    for (const { from, message } of readTranscript(readFileSync(pathOf(name), 'utf8'))) {
      if (message.id === undefined) continue
      const requester = message.method === undefined ? (from === 'C' ? 'S' : 'C') : from
      const key = `${requester} ${message.id}`
      if (message.method === 'initialize' || message.method === 'server/discover') open.delete(key)
      if (message.method === undefined) expect(open.delete(key), `${key} has a request`).toBe(true)
      else expect(open.has(key) || !open.add(key), `${key} is used once at a time`).toBe(false)
    }
  })

  it('exists for each transcript', () => {
    const names = readdirSync(folder).map((file) => file.replace(/\.txt$/, ''))
    expect(names.sort()).toEqual(Object.keys(dialogues).sort())
  })
})
