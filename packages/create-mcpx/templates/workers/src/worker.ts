import { env } from 'cloudflare:workers'
import { mcp } from '@mcpx/transport-http'
import { server } from './server.ts'

export default mcp(server, {
  allowedHosts: env.ALLOWED_HOSTS.split(','),
  // The next request may reach another instance, so sessions would be lost. Calls do not need them.
  sessions: false,
})
