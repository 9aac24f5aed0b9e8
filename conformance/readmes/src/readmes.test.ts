import { expect, it } from 'vitest'
import { documents } from './documents.ts'
import { readDocument } from './read-document.ts'

documents.filter((path) => path.startsWith('packages/') || path === 'README.md').forEach(readDocument)

it('reads the README of each published package', () => {
  expect(documents).toEqual(expect.arrayContaining(['README.md', 'packages/server/README.md']))
})
