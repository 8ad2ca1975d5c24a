import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Compiles the program behind the tools into a directory: the tests do not need a build. */
export const compileToolClient = async (directory: string): Promise<string> => {
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }')
  const options = ['--module', 'nodenext', '--target', 'es2023', '--types', 'node', '--skipLibCheck']
  const args = ['simulator/tools/tool.ts', '--ignoreConfig', '--outDir', directory, ...options]
  await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), args, { cwd: root })
  return join(directory, 'tool.js')
}
