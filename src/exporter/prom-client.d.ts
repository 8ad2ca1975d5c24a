/** The modules of the package that are used: its index loads summaries, a push gateway and clusters as well. */
declare module 'prom-client/lib/counter.js' {
  export { Counter as default } from 'prom-client'
}
declare module 'prom-client/lib/histogram.js' {
  export { Histogram as default } from 'prom-client'
}
declare module 'prom-client/lib/registry.js' {
  export { Registry as default } from 'prom-client'
}
declare module 'prom-client/lib/metrics/*.js' {
  import type { Registry } from 'prom-client'
  /** Registers metrics of the process. */
  export default function register(registry: Registry): void
}
