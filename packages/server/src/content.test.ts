import { ContentBlock, check } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { toBase64 } from './base64.ts'
import { audio, image, isBlock, link, resource, text } from './content.ts'

const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index % 256)

describe('blocks of content', () => {
  it('match the protocol and are recognized', () => {
    const blocks = [
      text('Hello', { annotations: { audience: ['user'] } }),
      image(bytes, 'image/png'),
      audio('UklGRg==', 'audio/wav'),
      resource('config://app', { debug: true }),
      resource('config://app', bytes, { mimeType: 'image/gif' }),
      link('file:///a.txt', 'a.txt', { title: 'A' }),
    ]
    for (const block of blocks) {
      expect(check(ContentBlock, block).problem).toBeUndefined()
      expect(isBlock(block)).toBe(true)
    }
  })

  it('have the MIME type of embedded contents', () => {
    expect(resource('a:1', 'words').resource).toEqual({ uri: 'a:1', mimeType: 'text/plain', text: 'words' })
    expect(resource('a:2', [1]).resource).toEqual({ uri: 'a:2', mimeType: 'application/json', text: '[1]' })
    expect(resource('a:3', new Uint8Array([1])).resource).toEqual({
      uri: 'a:3',
      mimeType: 'application/octet-stream',
      blob: 'AQ==',
    })
  })

  it('encode bytes like Node, with and without the method of the engine', () => {
    const plain = Object.assign(bytes.slice(), { toBase64: undefined })
    expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'))
    expect(toBase64(plain)).toBe(Buffer.from(bytes).toString('base64'))
    expect(toBase64(new Uint8Array())).toBe('')
  })

  it('reject invalid Base64 and MIME types', () => {
    expect(() => image('data:image/png;base64,AAAA', 'image/png')).toThrow('got a data: URL')
    expect(() => image(bytes, 'png')).toThrow('mimeType: expected a MIME type such as "image/png", got "png"')
    expect(() => audio(bytes, 'audio/')).toThrow('mimeType: expected a MIME type')
    expect(image(bytes, 'image/svg+xml; charset=utf-8').mimeType).toBe('image/svg+xml; charset=utf-8')
  })

  it('are distinguished from similar values', () => {
    const values = [null, 7, 'text', {}, [], { type: 'text' }, { type: 'image', data: 'a' }, { type: 'resource' }]
    expect(values.filter(isBlock)).toEqual([])
  })
})
