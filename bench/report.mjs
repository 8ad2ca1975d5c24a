// Starts main.ts, which uses the TypeScript sources of the tests.
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'

const { module } = await runnerImport(fileURLToPath(new URL('main.ts', import.meta.url)), { configFile: false })
process.exitCode = await module.main(process.argv.slice(2))
// A peer that was interrupted may leave an open handle.
process.exit()
