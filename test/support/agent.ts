import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Condition, eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { type Running, start } from './programs.ts'
import { type Exposition, scrape } from './scrape.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

export interface Watched extends Running {
  readonly port: number
  look(): Promise<Exposition>
  /** Looks at /metrics until what is read satisfies. */
  see<T>(read: (seen: Exposition) => T, condition: Condition<T>): Promise<T>
}

/** The agent as its users start it, with a configuration; `listen` and `state` are seen to. `files` are in the state directory. */
export const startAgent = async (
  config: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
): Promise<Watched & { readonly directory: string }> => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-agent-test-'))
  const port = await freePort()
  const file = join(directory, 'config.yaml')
  const own = { listen: `127.0.0.1:${port}`, state: { directory: join(directory, 'state') } }
  // JSON is YAML.
  await writeFile(file, JSON.stringify({ ...config, ...own }))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(own.state.directory, { recursive: true })
    await writeFile(join(own.state.directory, name), text)
  }
  const running = start(process.execPath, [MAIN, 'run', '--config', file], { env })
  const stop = async (signal?: NodeJS.Signals): Promise<void> => {
    await running.stop(signal)
    const plain = running
      .output()
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('{'))
    if (plain.length > 0) throw new Error(`the log has lines that are not JSON:\n${plain.join('\n')}`)
    await rm(directory, { recursive: true, force: true })
  }
  return { ...(await watched({ ...running, stop }, port)), directory }
}

/** The demo: a simulated node, so far into the scenario, and an agent. `node` is the interpreter. */
export const startDemo = async (scenario: string, node = process.execPath, at = '0s'): Promise<Watched> => {
  const port = await freePort()
  const args = [MAIN, 'demo', '--scenario', scenario, '--at', at, '--port', `${port}`]
  return watched(start(node, args), port)
}

const watched = async (running: Running, port: number): Promise<Watched> => {
  const look = async (): Promise<Exposition> => scrape(`http://127.0.0.1:${port}/metrics`)
  const see: Watched['see'] = async (read, condition) => eventually(async () => read(await look()), condition)
  try {
    await running.during(
      see(
        ({ value }) => value('chain_rpc_up'),
        (up) => up !== undefined,
      ),
    )
  } catch (error) {
    await running.stop()
    throw new Error(`the agent did not begin to watch; it wrote:\n${running.output()}`, {
      cause: error,
    })
  }
  return { ...running, port, look, see }
}
