import { expect, it } from 'vitest'
import { folderWith } from '../cli.fixture.ts'
import { readPackage } from './package-facts.ts'

async function read(content: object) {
  return readPackage(await folderWith({ 'package.json': JSON.stringify(content) }))
}

it.each([
  ['acme/shop', 'https://github.com/acme/shop'],
  ['gitlab:acme/shop', 'https://gitlab.com/acme/shop'],
  ['git+https://github.com/acme/shop.git', 'https://github.com/acme/shop'],
  ['git@github.com:acme/shop.git', 'https://github.com/acme/shop'],
  ['git+ssh://git@github.com/acme/shop.git', 'https://github.com/acme/shop'],
  ['git://github.com/acme/shop.git', 'https://github.com/acme/shop'],
  ['file:../shop', undefined],
  ['', undefined],
])('reads the repository %j', async (repository, url) => {
  expect((await read({ repository })).repository?.url).toBe(url)
  expect((await read({ repository: { type: 'git', url: repository } })).repository?.url).toBe(url)
})

it.each([
  ['Ada', { name: 'Ada' }],
  ['Ada Lovelace <ada@example.com>', { name: 'Ada Lovelace', email: 'ada@example.com' }],
  ['Ada (https://example.com/)', { name: 'Ada', url: 'https://example.com/' }],
  [{ name: 'Ada', email: 'no email', url: 'no url' }, { name: 'Ada' }],
  [{ email: 'ada@example.com' }, undefined],
  [7, undefined],
])('reads the author %j', async (author, expected) => {
  expect((await read({ author })).author).toEqual(expected)
})

it.each([
  [{ bin: './a.js', main: 'b.js' }, 'a.js'],
  [{ bin: { shop: 'dist/a.js', other: 'b.js' } }, 'dist/a.js'],
  [{ main: './b.js' }, 'b.js'],
  [{}, undefined],
])('finds the program of %j', async (content, entry) => {
  expect((await read(content)).entry).toBe(entry)
})

it.each([
  ['[]', 'expected an object, got array'],
  ['{', 'is not valid JSON'],
])('refuses the package.json %j', async (text, message) => {
  await expect(readPackage(await folderWith({ 'package.json': text }))).rejects.toThrow(message)
})
