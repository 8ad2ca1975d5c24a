// Starts a module of this folder, which uses the TypeScript sources of the tests.
//   node start.mjs MODULE ARGUMENTS
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'

const [name = 'main.ts', ...args] = process.argv.slice(2)
const { module } = await runnerImport(fileURLToPath(new URL(name, import.meta.url)), { configFile: false })
process.exitCode = await module.main(args)
// A peer that was interrupted may leave an open handle.
process.exit()
