import { basename } from 'node:path'
import { cite } from '../../../domain/node-documentation.ts'
import { NODE_FACTS } from '../../../domain/node-facts.ts'
import type { Finding } from '../../../health/finding.ts'
import { hasHugePageMount, parseAllowedCpus, parseCount } from '../../../parsers/kernel-files.ts'
import { needsHugePageMount } from '../../../parsers/systemctl.ts'
import { finding, type PreflightCheck, type PreflightContext } from './context.ts'

/** What the database needs of the drive below its device: these change only when the drive is set up. */
export const databaseDrive: PreflightCheck = {
  name: 'the drive of the database',
  run: async (context) => {
    const found = context.config.storage.devices.map((path) => drive(context, path))
    return (await Promise.all(found)).flat()
  },
}

const drive = async (context: PreflightContext, path: string): Promise<readonly Finding[]> => {
  const target = await context.access.resolve(path)
  const disk = target === null ? null : await diskOf(context, basename(target))
  // A regular file, or no device at all: the check of the device reports that.
  if (target === null || disk === null) return []
  const evidence = `${path} is ${target}, on ${disk}.`
  return [
    ...reported(path, target, context),
    ...blocks(await queueValue(context, disk, 'logical_block_size'), evidence),
    ...discard(await queueValue(context, disk, 'discard_max_bytes'), evidence),
  ]
}

/** The disk of a partition, or the disk itself. */
const diskOf = async ({ sysfs }: PreflightContext, name: string): Promise<string | null> => {
  const disks = ((await sysfs.list('block')) ?? []).filter((disk) => name.startsWith(disk))
  for (const disk of disks) {
    if (disk === name || (await sysfs.read(`block/${disk}/${name}/partition`)) !== null) return disk
  }
  return null
}

const queueValue = async ({ sysfs }: PreflightContext, disk: string, file: string): Promise<bigint | null> => {
  const text = await sysfs.read(`block/${disk}/queue/${file}`)
  return text === null ? null : parseCount(`${file} of ${disk}`, text)
}

/** The tool prints the device that it has opened. */
const reported = (path: string, target: string, { snapshot }: PreflightContext): readonly Finding[] => {
  const devices = snapshot.known.series('chain_storage_capacity_bytes').map(({ labels }) => labels['device'] ?? '')
  if (devices.length === 0 || devices.includes(target)) return []
  return finding('database device', 'warning', {
    summary: `the storage report is about ${devices.join(', ')}, but ${path} is ${target}`,
    evidence: ['Either the unit of the report has another device, or the link has changed since the report.'],
    advice: [
      'See which device execution has open: `sudo ls -l /proc/PID/fd`, with the PID of `chain-agent status services`.',
      'If it is not the one of the link, do not restart execution: it would open the other one. Fix the udev rule first.',
    ],
  })
}

const blocks = (size: bigint | null, evidence: string): readonly Finding[] => {
  const expected = NODE_FACTS.diskPage.value
  if (size === null || Number(size) === expected) return []
  return finding('database drive', 'warning', {
    summary: `the drive of the database has logical blocks of ${size} bytes, not ${expected}`,
    evidence: [
      evidence,
      'When execution opens the database it discards the rest of a chunk, from a bound of 512 bytes on (rewind_to_match_offsets). The kernel rejects that unless the bound is one of its blocks, and execution ends.',
    ],
    advice: [
      `Other blocks need a format of the drive, which erases it: plan it with the next hard reset.${cite('full-node', 'hard-reset')}`,
    ],
  })
}

const discard = (bytes: bigint | null, evidence: string): readonly Finding[] =>
  bytes !== 0n
    ? []
    : finding('database drive', 'warning', {
        summary: 'the drive of the database does not support discard',
        evidence: [evidence, 'The database discards each part that it frees; if that fails, execution ends.'],
        advice: [
          'See what is between: `lsblk --discard`. A RAID controller or an encrypted device may not pass it on: give the database the drive itself.',
        ],
      })

/** What the unit of the node reserves at boot: debian/usr/lib/systemd/system/set-hugepages.service of monad-bft. */
const RESERVED_PAGES = 2048

/** None at all is an alert. */
export const hugePages: PreflightCheck = {
  name: 'the huge pages',
  run: async (context) => {
    const total = context.snapshot.known.value('chain_host_hugepages', { size: '2Mi' })
    const isTooFew = total !== undefined && total > 0 && total < RESERVED_PAGES
    return [...(isTooFew ? fewPages(total) : []), ...(await mount(context))]
  },
}

const fewPages = (total: number): readonly Finding[] =>
  finding('huge pages', 'warning', {
    summary: `the kernel has ${total} huge pages of 2 MiB; the package of the node reserves ${RESERVED_PAGES}`,
    evidence: [
      'If fewer are free than execution, RPC and the database tool need, the next start of one of them fails.',
    ],
    advice: [
      'See whether the unit has run: `systemctl status set-hugepages.service`. The kernel reserves fewer if memory is fragmented: reboot then.',
      'Runbook: `chain-agent runbook ChainHostSetUp.huge-pages`.',
    ],
  })

/** Only for a stopped execution: one that runs has found its mount. */
const mount = async ({ config, exec, procfs, signal, snapshot }: PreflightContext): Promise<readonly Finding[]> => {
  const template = config.services.units['execution']
  const isDown = snapshot.known.value('chain_service_active', { service: 'execution' }) === 0
  if (template === undefined || snapshot.prefix === null || !isDown) return []
  // The command of execution contains no secret, and only whether it has an option is kept.
  const args = ['show', '--property=ExecStart', template.replaceAll('{prefix}', snapshot.prefix)]
  if (!needsHugePageMount((await exec.run({ command: 'systemctl', args }, signal)).stdout)) return []
  const mounts = await procfs.read('mounts')
  if (mounts === null || hasHugePageMount(mounts)) return []
  return finding('huge page mount', 'warning', {
    summary: 'execution is to create an event ring, and no hugetlbfs is mounted for it',
    evidence: ['/dev/hugepages belongs to root: execution needs one of 2 MiB pages that its user may write.'],
    advice: [
      'Mount it as at the installation, for example `sudo hugeadm --create-user-mounts USER`, with the user of the node, and at each boot.',
    ],
  })
}

const SERVICES = { bft: 'consensus', execution: 'execution', rpc: 'the RPC' } as const

/** Only what is a mistake on every host; the units of the node give consensus and the RPC four CPUs, execution seven. */
export const affinity: PreflightCheck = {
  name: 'the CPUs of the services',
  run: async ({ procfs, snapshot: { readings } }) => {
    const pids = new Map(readings.services?.services.map(({ service, mainPid }) => [service, mainPid]))
    const found = Object.entries(SERVICES).map(async ([service, name]): Promise<readonly Finding[]> => {
      const pid = pids.get(service) ?? null
      const status = pid === null ? null : await procfs.read(`${pid}/status`)
      if (status === null || parseAllowedCpus(status) > 1) return []
      return finding('CPU affinity', 'warning', {
        summary: `${name} may use a single CPU`,
        evidence: [`Cpus_allowed_list in /proc/${pid}/status.`],
        advice: [
          'See what restricts it: `systemctl show --property=AllowedCPUs,CPUAffinity UNIT`. Correct the drop-in, and restart all three services together.',
        ],
      })
    })
    return (await Promise.all(found)).flat()
  },
}
