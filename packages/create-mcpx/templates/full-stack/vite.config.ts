import { toNodeHandler } from '@mcpx/transport-http/node'
import { defineConfig } from 'vite'

export default defineConfig({
  build: { outDir: 'dist/web', target: 'es2022' },
  plugins: [
    {
      // Serves /mcp in `vite dev`, and loads the server again when its files change.
      name: 'serve-mcp',
      configureServer({ middlewares, ssrLoadModule }) {
        let current: { createApp: unknown; handle: ReturnType<typeof toNodeHandler> } | undefined
        middlewares.use(async (request, response, next) => {
          if (!request.url?.startsWith('/mcp')) return next()
          try {
            const { createApp } = await ssrLoadModule('/src/app.ts')
            if (current?.createApp !== createApp) current = { createApp, handle: toNodeHandler(createApp()) }
            await current.handle(request, response)
          } catch (error) {
            next(error)
          }
        })
      },
    },
  ],
})
