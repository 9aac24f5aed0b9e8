/** Serves the shop over stdio: `node serve-stdio.ts ours|sdk-1|sdk-2` */

const [kind] = process.argv.slice(2)
if (kind === 'sdk-1') await (await import('./servers/sdk-1.ts')).serveSdk1OverStdio()
else if (kind === 'sdk-2') await (await import('./servers/sdk-2.ts')).serveSdk2OverStdio()
else {
  const [{ createShop }, { serveStdio }] = await Promise.all([
    import('./servers/ours.ts'),
    import('@mcpx/transport-stdio'),
  ])
  await serveStdio(createShop())
}
