// Draws the dashboards. What it needs is no part of the project's own packages: it is installed by itself.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

let tsx
try {
  tsx = await import('tsx/esm/api')
} catch {
  console.error('What draws the pictures is not installed: npm ci --prefix dashboards/render')
  process.exit(2)
}
// The check of the whole project has not the packages to check the types here.
for (const part of ['tool', 'page']) {
  const { status } = spawnSync('npx', ['tsc', '-p', `dashboards/render/${part}`], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(1)
}
tsx.register()
await import('./tool/main.ts')
