/** The variables of wrangler.jsonc. `wrangler types` writes the types of everything that a worker can use. */
declare module 'cloudflare:workers' {
  export const env: { readonly ALLOWED_HOSTS: string }
}
