/** One module of the package: its index loads 25 of them, 700 kB of source, and keeps 10 MiB of memory. */
declare module 'systeminformation/lib/memory.js' {
  export { mem } from 'systeminformation'
}
