/** Prompts: without arguments, with completed arguments, with embedded content, and with messages of both roles. */
import { image, resource, type Server } from '@mcpx/server'
import { z } from 'zod'
import { PNG } from './media.ts'
import { simplePrompt } from './values.ts'

export function addPrompts(server: Server): void {
  server
    .add(simplePrompt)
    .prompt(
      'test_prompt_with_arguments',
      {
        description: 'A prompt with arguments',
        args: z.object({ arg1: z.string().meta({ description: 'The first' }), arg2: z.string() }),
        complete: { arg1: ['paris', 'park', 'party', 'test'], arg2: (value, { arg1 }) => [`${arg1} ${value}`] },
      },
      ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
    )
    .prompt(
      'test_prompt_with_embedded_resource',
      { description: 'A prompt with a resource', args: z.object({ resourceUri: z.string() }) },
      ({ resourceUri }) => [
        { role: 'user', content: resource(resourceUri, 'Embedded resource content for testing.') },
        { role: 'user', content: 'Please process the embedded resource above.' },
      ],
    )
    .prompt(
      'test_prompt_with_image',
      {
        title: 'With an image',
        description: 'A prompt with an image',
        icons: [{ src: 'https://example.com/picture.svg', mimeType: 'image/svg+xml' }],
        _meta: { 'example.com/kind': 'images' },
      },
      () => [
        { role: 'user', content: image(PNG, 'image/png') },
        { role: 'assistant', content: 'I see one pixel.' },
        { role: 'user', content: 'Please analyze the image above.' },
      ],
    )
}
