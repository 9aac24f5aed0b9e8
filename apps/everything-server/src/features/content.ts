/** What a tool can give back: text, pictures, sounds, whole resources, links to them, and any mixture. */
import { audio, image, link, resource, type Server, text } from '@mcpx/server'
import { PNG, WAV } from './media.ts'

export function addContent(server: Server): void {
  server
    .tool('test_simple_text', { description: 'Gives a text' }, () => 'This is a simple text response for testing.')
    .tool('test_image_content', { description: 'Gives a picture' }, () => image(PNG, 'image/png'))
    .tool('test_audio_content', { description: 'Gives a sound' }, () => audio(WAV, 'audio/wav'))
    .tool('test_embedded_resource', { description: 'Gives a resource with its contents' }, () =>
      resource('test://embedded-resource', 'This is an embedded resource content.'),
    )
    .tool('test_multiple_content_types', { description: 'Gives a text, a picture and a resource' }, () => [
      'Multiple content types test:',
      image(PNG, 'image/png'),
      resource('test://mixed-content-resource', { test: 'data', value: 123 }),
    ])
    .tool('show_links', { description: 'Points at resources, and says whom they are for' }, () => [
      text('Read one of these:', {
        annotations: { audience: ['assistant'], priority: 0.5 },
        _meta: { 'example.com/kind': 'introduction' },
      }),
      link('test://static-text', 'static-text', { mimeType: 'text/plain' }),
      link('test://static-binary', 'static-binary', { mimeType: 'image/png' }),
      resource('test://styles', 'p { color: red }', { mimeType: 'text/css' }),
    ])
}
