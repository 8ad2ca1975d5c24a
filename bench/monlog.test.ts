import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { closed, committed, line, newQc, T0, UNIT, vote } from '../test/collectors/consensus-log.ts'
import { debianPackage } from '../test/support/debian.ts'
import { must } from '../test/support/programs.ts'
import { createNode } from '../test/support/sandboxed-node.ts'

/** A minute of a busy node that logs DEBUG, and a little before it. */
const LINES = 330_000
const SECONDS = 60
const BEFORE = 5
const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))

const NOISE = [
  line('vote message', {
    vote: `Vote { id: 1a..2b, ${'signature: 8e01c5b0141d3e66, '.repeat(12)} }`,
  }),
  line('handling ping request', { target: 'a_peer_discovery', from: '02c3'.repeat(16) }),
  line('received chunk', { target: 'a_raptorcast::udp', bytes: 1220, hash: 'ab'.repeat(150) }),
]

/** As journald stores what a service says. */
const FIELDS = [
  `_SYSTEMD_UNIT=${UNIT}`,
  `_SYSTEMD_CGROUP=/system.slice/${UNIT}`,
  '_SYSTEMD_SLICE=system.slice',
  `_SYSTEMD_INVOCATION_ID=${'4f'.repeat(16)}`,
  `_STREAM_ID=${'5e'.repeat(16)}`,
  `_MACHINE_ID=${'c0'.repeat(16)}`,
  '_HOSTNAME=node',
  '_PID=4711',
  '_UID=1000',
  '_GID=1000',
  '_COMM=chain-node',
  '_EXE=/usr/local/bin/chain-node',
  '_TRANSPORT=stdout',
  'SYSLOG_IDENTIFIER=chain-node',
  'SYSLOG_FACILITY=3',
  'PRIORITY=6',
].join('\n')

/** Runs in a process of its own: half a gigabyte of journald's export format to standard output. */
const writer = (): string => `
const NOISE = ${JSON.stringify(NOISE)}
const FIELDS = ${JSON.stringify(FIELDS)}
const OURS = ${JSON.stringify([committed(1_000_000), closed(2_000_000), newQc(2_000_000), vote(2_000_000)])}
const [from, total, seconds] = [${(T0 - BEFORE * 1000) * 1000}, ${Math.round((LINES * (SECONDS + BEFORE)) / SECONDS)}, ${SECONDS + BEFORE}]
const perBlock = Math.round(total / seconds / 2.5)
const out = []
for (let at = 0; at < total; at += 1) {
  const block = Math.floor(at / perBlock)
  const ours = OURS[at % perBlock]
  const message = ours ? ours.replace(/(1|2)000000/, (digits) => String(Number(digits) + block)) : NOISE[at % 3]
  const micros = from + Math.floor((at * seconds * 1e6) / total)
  out.push('__REALTIME_TIMESTAMP=' + micros + '\\n__MONOTONIC_TIMESTAMP=' + (micros - from + 1) + '\\n_BOOT_ID=${'b0'.repeat(16)}\\n' + FIELDS + '\\nMESSAGE=' + message + '\\n\\n')
  if (out.length === 2000) { await new Promise((done) => process.stdout.write(out.join(''), done)); out.length = 0 }
}
process.stdout.write(out.join(''))
`

/** What anybody would write first: parse every line, both envelopes. */
const LOOP = `
import { createInterface } from 'node:readline'
const seen = {}
for await (const text of createInterface({ input: process.stdin })) {
  const { MESSAGE } = JSON.parse(text)
  if (typeof MESSAGE !== 'string' || MESSAGE[0] !== '{') continue
  const { message } = JSON.parse(MESSAGE).fields
  seen[message] = (seen[message] ?? 0) + 1
}
console.log(JSON.stringify({ blocks: seen['committed block'] }))
`

/** A journalctl that was built without patterns. */
const PLAIN = `#!/bin/sh
for word; do case "$word" in --grep=.) echo 'Compiled without pattern matching support' >&2; exit 1;; esac; done
exec /usr/bin/journalctl "$@"
`

test('a minute of 330,000 lines in real journald: monlog against parsing every line', async () => {
  const remote = await debianPackage('systemd-journal-remote')
  const library = join(await debianPackage('libmicrohttpd12'), 'usr/lib/x86_64-linux-gnu')
  const off = { enabled: false }
  const node = await createNode('chain', { config: { rpc: off } })
  try {
    const place = (name: string): string => join(node.directory, name)
    await mkdir(join(node.journal, 'remote'), { recursive: true })
    await mkdir(place('plain'))
    await writeFile(place('writer.mjs'), writer())
    await writeFile(place('loop.mjs'), LOOP)
    await writeFile(place('plain/journalctl'), PLAIN)
    await chmod(place('plain/journalctl'), 0o755)
    const program = join(remote, 'lib/systemd/systemd-journal-remote')
    const stored = join(node.journal, 'remote/minute.journal')
    const store = `${process.execPath} ${place('writer.mjs')} | LD_LIBRARY_PATH=${library} ${program} -o ${stored} -`
    await must('bash', ['-o', 'pipefail', '-c', store], { timeout: 300_000 })

    const [since, until] = [T0 / 1000, (T0 + SECONDS * 1000 - 1) / 1000]
    const journalctl = `journalctl --merge -u ${UNIT} --since=@${since} --until=@${until} --all -o json --output-fields=MESSAGE`
    const monlog = `${process.execPath} ${MAIN} monlog -c ${place('config.yaml')} --json --until=@${T0 / 1000 + SECONDS}`
    const ways = {
      monlog,
      'monlog, journalctl without --grep': `PATH=${place('plain')}:$PATH ${monlog}`,
      'journalctl | jq': `${journalctl} | jq -s -c '[.[].MESSAGE | select(type == "string" and startswith("{")) | fromjson.fields.message] | {blocks: map(select(. == "committed block")) | length}'`,
      'journalctl | a loop of JSON.parse': `${journalctl} | ${process.execPath} ${place('loop.mjs')}`,
      'journalctl alone': `${journalctl} > /dev/null; echo '{"blocks":null}'`,
    }
    const blocksSchema = z.union([
      z.object({ blocks: z.number().nullable() }).transform(({ blocks }) => blocks),
      z
        .object({
          window: z.object({ isCovered: z.literal(true) }),
          messages: z.object({ committed_block: z.number() }),
        })
        .transform(({ messages }) => messages.committed_block),
    ])
    const reports = new Set<string>()
    const told: (number | null)[] = []
    for (const round of [1, 2]) {
      for (const [name, way] of Object.entries(ways)) {
        const script = `TIMEFORMAT='%R %U %S'; time { ${way}; }`
        const { stdout, stderr } = await node.exec('bash', ['-c', script], { timeout: 300_000 })
        const times = (stderr.trim().split('\n').at(-1) ?? '').split(' ').map(Number)
        const [wallSeconds, user = Number.NaN, system = Number.NaN] = times
        const blocks = blocksSchema.parse(JSON.parse(stdout))
        console.log({ round, name, wallSeconds, cpuSeconds: user + system, blocks })
        if (name.startsWith('monlog')) reports.add(stdout)
        told.push(blocks)
      }
    }
    // The same report of the same instant, and the same count by every way.
    expect(reports.size).toBe(1)
    expect(new Set(told)).toEqual(new Set([150, null]))
  } finally {
    await node.down()
  }
})
