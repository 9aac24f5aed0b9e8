/** Resources: static, computed, by a template, and one that supports subscriptions. */
import type { Server } from '@mcpx/server'
import { z } from 'zod'
import { PNG } from './media.ts'
import { staticText } from './values.ts'

const png = Buffer.from(PNG, 'base64')

export function addResources(server: Server): void {
  server
    .add(staticText)
    .resource('test://static-binary', { name: 'Static image', mimeType: 'image/png', size: png.length }, png)
    .resource(
      'config://app',
      {
        name: 'settings',
        title: 'Settings',
        annotations: { audience: ['user'] },
        icons: [{ src: 'https://example.com/wheel.svg', mimeType: 'image/svg+xml' }],
        _meta: { 'example.com/kind': 'settings' },
      },
      () => ({ debug: false }),
    )
    .resource(
      'test://template/{id}/data',
      {
        name: 'Data by id',
        mimeType: 'application/json',
        list: () => ['1', '2'].map((id) => ({ uri: `test://template/${id}/data`, name: `Data of ${id}` })),
        complete: { id: ['1', '2', '12', '123'] },
      },
      ({ id }) => ({ id, templateTest: true, data: `Data for ID: ${id}` }),
    )
  addWatched(server)
}

function addWatched(server: Server): void {
  let contents = 'Watched resource content'
  server
    .resource('test://watched-resource', { name: 'Watched text', subscribe: true }, () => contents)
    .tool(
      'write_watched_resource',
      { description: 'Writes the resource that supports subscriptions', input: z.object({ text: z.string() }) },
      ({ text }) => {
        contents = text
        server.resourceUpdated('test://watched-resource')
        return 'Written.'
      },
    )
}
