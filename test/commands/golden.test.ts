import { expect, test } from 'vitest'
import { openHost } from '../support/host.ts'

const COMMANDS = ['check', 'status', 'recover', 'monlog']

/** The file system of the simulated host is that of the machine, which other programs fill. */
const settings = { 'health.disable': '[ChainDiskFilling, ChainDiskFull]' }

test.each(['healthy', 'stalled', 'panic', 'statesync', 'storage-full', 'isolated'])(
  '%s: output and exit codes are the golden ones',
  async (scenario) => {
    const host = await openHost({ scenario, second: 0, agent: true, settings })
    // In `isolated` the newest blocks arrive at the 90th second: not at a moment between two states.
    for (let second = 0; second < 95; second += 1) await host.second()
    const outputs: string[] = []
    for (const command of COMMANDS) {
      const { code, out, err } = await host.run([command])
      const text = `${out}${err}`
        .replaceAll(host.directory, '/host')
        // While a command runs, the clock passes the time that its files take.
        .replaceAll(/ For \d+ \w+\./g, ' For #.')
        .replaceAll(/, led by .*/g, ', led by #')
        .replaceAll(/, the newest .* before its end/g, '')
        .replaceAll(/ The block that is compared is .* old\./g, '')
        .replaceAll(/ are left, .* at the rate of the network/g, ' are left')
        .replaceAll(/Time left for a restart: [^.]*/g, 'Time left for a restart: #')
        .replaceAll(/\d[\d,.]*( (?:h|min) \d+)*/g, '#')
      outputs.push(`$ chain-agent ${command}`, text, `exit code ${code}`, '')
    }
    await expect(outputs.join('\n')).toMatchFileSnapshot(`golden/${scenario}.txt`)
  },
)
