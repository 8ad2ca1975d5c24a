import { describe, expect, test } from 'vitest'
import { affinity, databaseDrive, hugePages } from '../../../src/commands/check/preflight/hardware.ts'
import { sample } from '../../../src/core/metric.ts'
import { createTree } from '../../collectors/run-host.ts'
import { context, type Host } from './context.ts'

const on = async (files: Readonly<Record<string, string>>, host: Host = {}) => {
  const { root } = await createTree(files)
  return context({ ...host, root })
}
const summaries = (found: Awaited<ReturnType<typeof databaseDrive.run>>) =>
  found.map(({ severity, summary }) => `${severity}: ${summary}`)

describe('the drive of the database', () => {
  const links = { '/dev/triedb': '/dev/nvme1n1p2' }
  const files = (block: number, discard: number) => ({
    'sys/block/nvme1n1/nvme1n1p2/partition': '2\n',
    'sys/block/nvme1n1/queue/logical_block_size': `${block}\n`,
    'sys/block/nvme1n1/queue/discard_max_bytes': `${discard}\n`,
    // Another one, whose name is the beginning of a name.
    'sys/block/nvme1/queue/logical_block_size': '4096\n',
    'sys/block/nvme0n1/queue/discard_max_bytes': '0\n',
  })
  const run = async (tree: Readonly<Record<string, string>>, host: Host = { links }) =>
    databaseDrive.run(await on(tree, host))

  test('blocks of 512 bytes and discard: no finding', async () => {
    expect(await run(files(512, 2_199_023_255_040))).toEqual([])
  })
  test('other blocks, and no discard', async () => {
    const found = await run(files(4096, 0))
    expect(summaries(found)).toEqual([
      'warning: the drive of the database has logical blocks of 4096 bytes, not 512',
      'warning: the drive of the database does not support discard',
    ])
    expect(found[0]?.evidence[0]).toBe('/dev/triedb is /dev/nvme1n1p2, on nvme1n1.')
  })
  test('the whole drive', async () => {
    expect(await run(files(4096, 1), { links: { '/dev/triedb': '/dev/nvme1n1' } })).toHaveLength(1)
  })
  test.each([
    ['no device', {}],
    ['a file', { '/dev/triedb': '/srv/triedb.db' }],
    ['another partition that does not exist', { '/dev/triedb': '/dev/nvme1n1p3' }],
  ])('%s: nothing is known', async (_, found) => {
    expect(await run(files(4096, 0), { links: found })).toEqual([])
  })
  test('a kernel without the values', async () => {
    expect(await run({ 'sys/block/nvme1n1/nvme1n1p2/partition': '2\n' })).toEqual([])
  })
  test.each([
    ['/dev/nvme1n1p2', []],
    ['/dev/nvme0n1p2', ['warning: the storage report is about /dev/nvme0n1p2, but /dev/triedb is /dev/nvme1n1p2']],
  ])('the report is about %s', async (device, expected) => {
    const samples = [sample('chain_storage_capacity_bytes', 1, { device })]
    expect(summaries(await run(files(512, 1), { links, samples }))).toEqual(expected)
  })
})

describe('huge pages', () => {
  const pages = (count: number) => sample('chain_host_hugepages', count, { size: '2Mi' })
  test.each([
    [2048, []],
    [4096, []],
    // An alert.
    [0, []],
    [1900, ['warning: the kernel has 1900 huge pages of 2 MiB; the package of the node reserves 2048']],
  ])('%i', async (count, expected) => {
    expect(summaries(await hugePages.run(context({ samples: [pages(count)] })))).toEqual(expected)
  })
  test('unknown', async () => {
    expect(await hugePages.run(context())).toEqual([])
  })

  const ROOT = 'hugetlbfs /dev/hugepages hugetlbfs rw,nosuid,nodev,relatime,pagesize=2M 0 0\n'
  const LARGE = 'none /mnt/huge hugetlbfs rw,relatime,pagesize=1024M 0 0\n'
  const OWN = 'none /var/lib/hugetlbfs/user/node/pagesize-2MB hugetlbfs rw,relatime,uid=1000,mode=700,pagesize=2M 0 0\n'
  const MISSING = ['warning: execution is to create an event ring, and no hugetlbfs is mounted for it']
  test.each([
    { name: 'no mount', options: '--exec-event-ring', mounts: '', expected: MISSING },
    {
      name: 'those of root and of larger pages',
      options: '--exec-event-ring --db x',
      mounts: ROOT + LARGE,
      expected: MISSING,
    },
    { name: 'a name of the ring', options: '--exec-event-ring ring', mounts: ROOT, expected: MISSING },
    { name: 'its own', options: '--exec-event-ring', mounts: ROOT + OWN, expected: [] },
    {
      name: 'one of the default size',
      options: '--exec-event-ring',
      mounts: 'none /huge hugetlbfs rw 0 0\n',
      expected: [],
    },
    { name: 'a path', options: '--exec-event-ring=/srv/ring', mounts: ROOT, expected: [] },
    { name: 'no event ring', options: '--db /dev/triedb', mounts: ROOT, expected: [] },
    { name: 'execution runs', options: '--exec-event-ring', mounts: ROOT, active: 1, expected: [] },
  ])('the mount: $name', async ({ options, mounts, active = 0, expected }) => {
    const tools = { 'systemctl show': `ExecStart={ path=/bin/x ; argv[]=/bin/x ${options} ; ignore_errors=no }\n` }
    const samples = [sample('chain_service_active', active, { service: 'execution' })]
    expect(summaries(await hugePages.run(await on({ 'proc/mounts': mounts }, { tools, samples })))).toEqual(expected)
  })
})

test('a service that may use a single CPU; one that has ended is not looked at', async () => {
  const services = [
    { service: 'bft', mainPid: 31 },
    { service: 'execution', mainPid: 32 },
    { service: 'rpc', mainPid: null },
    { service: 'otelcol', mainPid: 33 },
  ]
  const status = (list: string) => `Name:\tx\nCpus_allowed:\tfe\nCpus_allowed_list:\t${list}\nMems_allowed_list:\t0\n`
  const files = { 'proc/31/status': status('8'), 'proc/32/status': status('1,3-4'), 'proc/33/status': status('5') }
  const collectors = [{ name: 'services', up: true, reading: { services, timers: [] } }]
  expect(summaries(await affinity.run(await on(files, { collectors })))).toEqual([
    'warning: consensus may use a single CPU',
  ])
})
