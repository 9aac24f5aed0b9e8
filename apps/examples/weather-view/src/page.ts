/** The script of the host's page: reads the view, displays it in a frame of another origin, and calls the tool. */
import { apps, contentSecurityPolicy, readView, visibleTo } from '@mcpx/apps/client'
import { openView, windowPort } from '@mcpx/apps/host'
import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'

const settings = new URL(location.href).searchParams
const client = await connect(http(settings.get('server') ?? ''), { extensions: [apps()] })
const tool = visibleTo(await client.listTools().all(), 'model').find(({ name }) => name === 'weather')
if (tool === undefined) throw new Error('The server has no tool "weather".')
const view = await readView(client, tool)

// The other origin serves the document with its policy as a header. `allow-same-origin` is left out on purpose.
const frames = settings.get('frames') ?? ''
await fetch(`${frames}/view`, {
  method: 'POST',
  body: JSON.stringify({ ...view, policy: contentSecurityPolicy(view) }),
})
const frame = document.createElement('iframe')
frame.setAttribute('sandbox', 'allow-scripts')
frame.src = `${frames}/view`
frame.style.cssText = 'width: 600px; height: 360px; border: 0'

const bridge = openView({
  client,
  tool,
  port: windowPort(window, () => frame.contentWindow),
  hostInfo: { name: 'example-host', version: '1.0.0' },
  onWarning: (warning) => console.warn(warning.message),
})
// A document can navigate its frame. The next document is not a view of this server.
frame.addEventListener('load', () => frame.addEventListener('load', () => void bridge.close()), { once: true })
document.body.append(frame)

const args = { city: 'Oslo' }
bridge.sendInput(args)
bridge.sendResult(await client.callTool('weather', args))
