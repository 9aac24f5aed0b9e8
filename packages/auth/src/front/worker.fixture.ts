/** A Worker that logs in through a front, refreshes the tokens, and returns the results. */

import { Browser, CALLBACK, World } from './front.fixture.ts'

// biome-ignore lint/style/noDefaultExport: workerd reads a worker's handlers from its default export
export default {
  async fetch(): Promise<Response> {
    const world = new World({ rememberConsent: 60_000 })
    const { clientId, accessToken, refreshToken } = await world.logIn()
    const auth = await world.call(accessToken)
    const refreshed = await world.refresh(clientId, refreshToken)
    const secret = await world.register({ token_endpoint_auth_method: 'client_secret_post' })
    const id = 'https://app.example/client.json'
    world.documents.set(id, () => Response.json({ client_id: id, client_name: 'App', redirect_uris: [CALLBACK] }))
    const page = await new Browser(world).open(world.authorizeUrl(id))
    return Response.json({
      subject: 'subject' in auth && auth.subject,
      upstream: 'subject' in auth && (await world.front.upstreamToken({ auth })),
      refreshed: await world.statusOf(refreshed.body.access_token ?? ''),
      secret: secret.client_secret?.length,
      page: page.text.includes('Published by app.example'),
      metadata: (await world.request('/.well-known/oauth-authorization-server')).status,
      warnings: world.warnings.map(String),
    })
  },
}
