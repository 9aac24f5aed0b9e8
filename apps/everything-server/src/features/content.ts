/** The content that a tool can return: text, images, audio, embedded resources, links to resources, and combinations. */
import { audio, image, link, resource, type Server, text } from '@mcpx/server'
import { PNG, WAV } from './media.ts'
import { simpleText } from './values.ts'

export function addContent(server: Server): void {
  server
    .add(simpleText)
    .tool('test_image_content', { description: 'Returns an image' }, () => image(PNG, 'image/png'))
    .tool('test_audio_content', { description: 'Returns audio' }, () => audio(WAV, 'audio/wav'))
    .tool('test_embedded_resource', { description: 'Returns an embedded resource' }, () =>
      resource('test://embedded-resource', 'This is an embedded resource content.'),
    )
    .tool('test_multiple_content_types', { description: 'Returns text, an image and a resource' }, () => [
      'Multiple content types test:',
      image(PNG, 'image/png'),
      resource('test://mixed-content-resource', { test: 'data', value: 123 }),
    ])
    .tool('show_links', { description: 'Returns links to resources, with annotations' }, () => [
      text('Read one of these:', {
        annotations: { audience: ['assistant'], priority: 0.5 },
        _meta: { 'example.com/kind': 'introduction' },
      }),
      link('test://static-text', 'static-text', { mimeType: 'text/plain' }),
      link('test://static-binary', 'static-binary', { mimeType: 'image/png' }),
      resource('test://styles', 'p { color: red }', { mimeType: 'text/css' }),
    ])
}
