import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { run } from '../support/programs.ts'
import { requirePrometheus, promtool } from '../support/prometheus.ts'
import { versionsToTest } from '../support/real-parts.ts'
import { testFiles } from './files.ts'

const describe = await requirePrometheus()

const SCRIPT = fileURLToPath(new URL('../../scripts/mutate-alerts.mjs', import.meta.url))
const SLOW = 1_800_000
const found = z.array(
  z.object({
    name: z.string(),
    alerts: z.number(),
    mutants: z.number(),
    survivors: z.array(z.string()),
    scarce: z.array(z.string()),
  }),
)

const mutate = async (name: string) => {
  const args = [SCRIPT, name, '--json', '--promtool', await promtool()]
  const { stdout, stderr } = await run(process.execPath, args, { timeout: SLOW })
  const [result] = stdout === '' ? [] : found.parse(JSON.parse(stdout))
  if (!result) throw new Error(`${name}: ${stderr}`)
  return result
}

/** The others take too long for each landing: in the project `matrix`, and with `npm run alerts:mutate`. */
const THESE = versionsToTest(['uptime', ...testFiles.filter((name) => name !== 'uptime')])

describe('every mutation of a rule is detected by a test', () => {
  it.each(THESE)('%s', { timeout: SLOW }, async (name) => {
    const { alerts, mutants, survivors, scarce } = await mutate(name)
    console.log(`${name}: ${alerts} alerts, ${mutants} mutants, ${survivors.length} survivors`)
    expect({ survivors, scarce }).toEqual({ survivors: [], scarce: [] })
  })
})
