/** The MCP server: a tool with a view, and a tool that only the view calls. */
import { apps, ui } from '@mcpx/apps'
import { file } from '@mcpx/apps/node'
import { createServer } from '@mcpx/server'
import { z } from 'zod'

const view = ui('weather', { html: file(new URL('../view.html', import.meta.url)), prefersBorder: true })
const input = z.object({ city: z.string() })

export const server = createServer({ name: 'weather', version: '1.0.0' }, { extensions: [apps()] })
  .tool('weather', { description: 'The weather of today', input, ui: view }, ({ city }) => ({
    content: [{ type: 'text', text: `It rains in ${city}.` }],
    structuredContent: { sky: 'Rain', celsius: 7 },
  }))
  .tool('refresh', { input, ui: { visibility: ['app'] } }, () => ({
    content: [{ type: 'text', text: 'The sun shines.' }],
    structuredContent: { sky: 'Sun', celsius: 21 },
  }))
  .tool('delete_all', { ui: { visibility: ['model'] } }, () => 'Deleted.')
