// Bundles test/fuzz and runs it: `npm run fuzz`.
import { build } from 'rolldown'

await build({
  input: { main: 'test/fuzz/main.ts' },
  platform: 'node',
  output: { dir: '.cache/fuzz', cleanDir: true, sourcemap: true },
})
await import('../.cache/fuzz/main.js')
