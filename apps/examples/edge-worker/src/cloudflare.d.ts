/** The part of the platform's types that the worker uses. A real project generates them with `wrangler types`. */
declare module 'cloudflare:workers' {
  export const env: { readonly SECRET: string }
}
