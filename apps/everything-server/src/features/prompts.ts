/** Prompts: plain, with arguments that can be completed, with content, with messages of both roles. */
import { image, resource, type Server } from '@mcpx/server'
import { z } from 'zod'
import { PNG } from './media.ts'

export function addPrompts(server: Server): void {
  server
    .prompt('test_simple_prompt', { description: 'A prompt' }, () => 'This is a simple prompt for testing.')
    .prompt(
      'test_prompt_with_arguments',
      {
        description: 'A prompt with arguments',
        args: z.object({ arg1: z.string().meta({ description: 'The first' }), arg2: z.string() }),
        complete: { arg1: ['paris', 'park', 'party', 'test'], arg2: (typed, { arg1 }) => [`${arg1} ${typed}`] },
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
        title: 'With a picture',
        description: 'A prompt with a picture',
        icons: [{ src: 'https://example.com/picture.svg', mimeType: 'image/svg+xml' }],
        _meta: { 'example.com/kind': 'pictures' },
      },
      () => [
        { role: 'user', content: image(PNG, 'image/png') },
        { role: 'assistant', content: 'I see one pixel.' },
        { role: 'user', content: 'Please analyze the image above.' },
      ],
    )
}
