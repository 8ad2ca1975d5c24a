import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDemo, type Watched } from '../support/agent.ts'
import { temporaryFolder } from '../support/directory.ts'
import { freePort } from '../support/free-port.ts'
import { run } from '../support/programs.ts'
import { runOf, scriptOf, shellBlocks } from '../support/shell-blocks.ts'

/** A script that fails leaves no program behind. */
const STOP_REST = `trap 'kill $(jobs -p) 2>/dev/null || true' EXIT`

const blocks = shellBlocks().filter((block) => runOf(block)?.place === 'demo')

const directory = await temporaryFolder()

describe('the shell blocks of the documentation in a terminal of the demo', () => {
  let demo: Watched
  let settings = ''
  /** The ports of the pages, and free ones in their place. */
  let ports: readonly (readonly [string, string])[] = []

  beforeAll(async () => {
    demo = await startDemo('healthy')
    const [api, operations] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
    ports = [
      ['127.0.0.1:8181', api],
      ['127.0.0.1:9144', operations],
      ['127.0.0.1:9843', `127.0.0.1:${demo.port}`],
    ]
    const listen = `export CHAIN_AGENT_SERVE_QUERY_LISTEN=${api} CHAIN_AGENT_SERVE_QUERY_METRICS_LISTEN=${operations}`
    settings = [...(demo.output().match(/^ {2}export .*$/gm) ?? []), listen].join('\n')
  })
  afterAll(async () => demo.stop())

  it.each([...new Set(blocks.map(({ page }) => page))])('%s', async (page) => {
    const script = scriptOf(
      blocks.filter((block) => block.page === page),
      'demo',
    ).replaceAll(/\bsudo /g, '')
    const here = ports.reduce((text, [from, to]) => text.replaceAll(from, to), script)
    const argv = ['-euo', 'pipefail', '-c', `${STOP_REST}\n${settings}\n${here}`]
    const { code, stdout, stderr } = await run('bash', argv, { cwd: await mkdtemp(join(directory, 'page-')) })
    expect(code, `${here}\n${stdout}\n${stderr}`).toBe(0)
  })
})
