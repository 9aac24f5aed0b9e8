/** What is used of the platform; a project of its own has these types by `wrangler types`. */
declare module 'cloudflare:workers' {
  export const env: { readonly SECRET: string }
}
